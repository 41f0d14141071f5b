// Inside a line of Markdown: code, strong, emphasis and links.

import { GUIDE_FILES } from './guide-files.ts';
import { escape } from './html.ts';

/** Stands for a piece of code while the rest of the line is read: nothing inside code means anything. */
const HELD = /\0(?<index>\d+)\0/gu;

export function inline(text: string): string {
  const codes: string[] = [];
  const held = text.replaceAll('\0', '').replaceAll(/`(?<code>[^`]+)`/gu, (_match, code: string) => {
    codes.push(`<code>${escape(code)}</code>`);
    return `\0${codes.length - 1}\0`;
  });
  return escape(held)
    .replaceAll(/\*\*(?<strong>[^*]+)\*\*/gu, '<strong>$<strong></strong>')
    .replaceAll(/\*(?<mild>[^*]+)\*/gu, '<em>$<mild></em>')
    .replaceAll(/&lt;(?<url>https:\/\/[^\s&]+)&gt;/gu, '<a href="$<url>">$<url></a>')
    .replaceAll(/\[(?<label>[^\]]+)\]\((?<target>[^)\s]+)\)/gu, (_match, label: string, target: string) => {
      const link = siteLink(target);
      return link === undefined ? label : `<a href="${link}">${label}</a>`;
    })
    .replaceAll(HELD, (_match, index: string) => codes[Number(index)] ?? '');
}

/** Guides link to each other as files, so that they read well in the repository. A file that is no page gets no link. */
function siteLink(target: string): string | undefined {
  if (/^(?:https:\/\/|\/|#)/u.test(target)) return target;
  const { file = '', hash = '' } = /^(?:\.\.\/)?(?<file>[\w/-]+\.md)(?<hash>#[\w-]+)?$/u.exec(target)?.groups ?? {};
  if (file === 'api.md') return `/docs${hash}`;
  const guide = GUIDE_FILES.find(([, path]) => path === file || path === `guides/${file}`);
  return guide && `/docs/${guide[0]}${hash}`;
}
