// Inline Markdown: code, strong, emphasis and links.

import { must } from '../shared/must.ts';
import { GUIDE_FILES, guidePath } from './guide-files.ts';
import { escape } from './html.ts';

/** A placeholder for a code span, so that the content of the span isn't parsed as Markdown. */
const CODE_PLACEHOLDER = /\0(?<index>\d+)\0/gu;

export function inline(text: string): string {
  const codes: string[] = [];
  const withoutCode = text.replaceAll('\0', '').replaceAll(/`(?<code>[^`]+)`/gu, (_match, code: string) => {
    codes.push(codeSpan(code));
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

/** A long name may break after its separators, never inside a word. */
const BREAKABLE = 18;

function codeSpan(code: string): string {
  const text = code
    .split(/(?<=[_/.=?,{}-])(?=\w)/u)
    .map(escape)
    .join(code.length > BREAKABLE ? '<wbr>' : '');
  return `<code>${text}</code>`;
}

/** Maps a link between files in docs/ to the path of the page. A file that isn't published as a page gets no link. */
function siteLink(target: string): string | undefined {
  if (/^(?:https:\/\/|\/|#)/u.test(target)) return target;
  const { file = '', hash = '' } = /^(?:\.\.\/)?(?<file>[\w/-]+\.md)(?<hash>#[\w-]+)?$/u.exec(target)?.groups ?? {};
  const guide = GUIDE_FILES.find(([, path]) => path === file || path === `guides/${file}`);
  return guide && `${guidePath(guide[0])}${hash}`;
}
