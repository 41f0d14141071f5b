// Inline Markdown: code, strong, emphasis and links.

import { must } from '../primitives/must.ts';
import { GUIDE_FILES } from './guide-files.ts';
import { escape } from './html.ts';

/** A placeholder for a code span, so that the content of the span isn't parsed as Markdown. */
const CODE_PLACEHOLDER = /\0(?<index>\d+)\0/gu;

export function inline(text: string): string {
  const codes: string[] = [];
  const withoutCode = text.replaceAll('\0', '').replaceAll(/`(?<code>[^`]+)`/gu, (_match, code: string) => {
    codes.push(`<code>${escape(code)}</code>`);
    return `\0${codes.length - 1}\0`;
  });
  return escape(withoutCode)
    .replaceAll(/\*\*(?<strong>[^*]+)\*\*/gu, '<strong>$<strong></strong>')
    .replaceAll(/\*(?<emphasis>[^*]+)\*/gu, '<em>$<emphasis></em>')
    .replaceAll(/&lt;(?<url>https:\/\/[^\s&]+)&gt;/gu, '<a href="$<url>">$<url></a>')
    .replaceAll(/\[(?<label>[^\]]+)\]\((?<target>[^)\s]+)\)/gu, (_match, label: string, target: string) => {
      const link = siteLink(target);
      return link === undefined ? label : `<a href="${link}">${label}</a>`;
    })
    .replaceAll(CODE_PLACEHOLDER, (_match, index: string) => must(codes[Number(index)], 'code span'));
}

/** Maps a link between files in docs/ to the path of the page. A file that isn't published as a page gets no link. */
function siteLink(target: string): string | undefined {
  if (/^(?:https:\/\/|\/|#)/u.test(target)) return target;
  const { file = '', hash = '' } = /^(?:\.\.\/)?(?<file>[\w/-]+\.md)(?<hash>#[\w-]+)?$/u.exec(target)?.groups ?? {};
  if (file === 'api.md') return `/docs${hash}`;
  const guide = GUIDE_FILES.find(([, path]) => path === file || path === `guides/${file}`);
  return guide && `/docs/${guide[0]}${hash}`;
}
