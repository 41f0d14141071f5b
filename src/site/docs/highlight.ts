// Colors strings, comments and keywords of code on the server, so that pages need no script for it.

import { escape, Html } from '../html.ts';

const SHELL =
  /(?<note>(?<=^|\s)#.*)|(?<string>'[^']*'|"(?:[^"\\]|\\.)*")|(?<word>(?<=^|[|;&]\s*)(?:curl|npm|npx|docker|storybar|export|cd)\b|(?<=\s)--?[a-zA-Z][\w-]*)/gmu;
const SCRIPT =
  /(?<note>\/\/.*)|(?<string>'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`)|(?<word>\b(?:import|from|const|let|await|async|new|return|if|else|throw|for|of|function|export)\b)/gu;
const PYTHON =
  /(?<note>#.*)|(?<string>'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")|(?<word>\b(?:import|from|with|open|as|print|def|return|if|else|raise|for|in|True|False|None)\b)/gu;
const JSON_TEXT = /(?<word>"(?:[^"\\]|\\.)*"(?=\s*:))|(?<string>"(?:[^"\\]|\\.)*")|(?<note>\b(?:true|false|null)\b)/gu;

const GRAMMARS: Readonly<Record<string, RegExp>> = {
  sh: SHELL,
  bash: SHELL,
  curl: SHELL,
  js: SCRIPT,
  ts: SCRIPT,
  typescript: SCRIPT,
  python: PYTHON,
  json: JSON_TEXT,
  n8n: JSON_TEXT,
};

/** Code in an unknown language stays plain. */
export function highlight(code: string, language: string): Html {
  const grammar = GRAMMARS[language];
  if (grammar === undefined) return new Html(escape(code));
  let markup = '';
  let end = 0;
  for (const match of code.matchAll(grammar)) {
    const kind = Object.entries(match.groups ?? {}).find(([, text]) => text !== undefined)?.[0] ?? 'word';
    markup += `${escape(code.slice(end, match.index))}<span class="code-${kind}">${escape(match[0])}</span>`;
    end = match.index + match[0].length;
  }
  return new Html(markup + escape(code.slice(end)));
}
