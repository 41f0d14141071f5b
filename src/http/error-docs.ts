// The page that every problem's `type` leads to.

import { PROBLEMS } from './statuses.ts';

export function errorDocsPage(): string {
  const rows = Object.entries(PROBLEMS)
    .map(
      ([code, { status, title, advice }]) =>
        `<tr id="${code}"><td><code>${code}</code></td><td>${status}</td><td><strong>${title}.</strong> ${withCode(advice)}</td></tr>`,
    )
    .join('\n');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Storybar errors</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color-scheme: light dark; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .5rem .75rem; border-bottom: 1px solid #8884; }
tr:target { background: #fd06; }
</style>
</head>
<body>
<h1>Errors</h1>
<p>Every error is <code>application/problem+json</code> (RFC 9457). <code>code</code> is one of these, and stable.</p>
<table>
<thead><tr><th>code</th><th>status</th><th>meaning</th></tr></thead>
<tbody>
${rows}
</tbody>
</table>
</body>
</html>
`;
}

function withCode(text: string): string {
  return text.replaceAll(/`([^`]+)`/gu, '<code>$1</code>');
}
