// One call, written in the languages people call it from. Used by the pages on the server and by the playground in the
// browser, so it knows neither Node nor the DOM.

export interface CallOverlay {
  readonly text: string;
  readonly position?: number;
}

export interface Call {
  readonly baseUrl: string;
  readonly key: string;
  /** File name of the asset; absent for bars alone. */
  readonly asset?: string | undefined;
  /** Size of the bars alone. */
  readonly size?: { readonly width: number; readonly height: number } | undefined;
  readonly overlays: readonly CallOverlay[];
  readonly output: string;
}

export interface Snippet {
  readonly id: string;
  readonly label: string;
  readonly code: string;
}

export const KEY_PLACEHOLDER = 'sb_live_...';

export function snippetsFor(call: Call): Snippet[] {
  return [
    { id: 'curl', label: 'curl', code: curl(call) },
    { id: 'javascript', label: 'JavaScript', code: javascript(call) },
    { id: 'python', label: 'Python', code: python(call) },
    { id: 'n8n', label: 'n8n', code: n8n(call) },
  ];
}

/** The form without the asset. One caption where the default puts it needs no JSON, unless n8n would take it for a formula. */
function fields({ size, overlays }: Call): [string, string][] {
  const [first] = overlays;
  const isPlain = overlays.length === 1 && first?.position === undefined && first?.text.startsWith('=') === false;
  const caption: [string, string] = isPlain ? ['text', first.text] : ['overlays', JSON.stringify(overlays)];
  const sides: [string, string][] = size
    ? [
        ['width', String(size.width)],
        ['height', String(size.height)],
      ]
    : [];
  return [...sides, caption];
}

function curl(call: Call): string {
  const parts = [
    `curl ${shell(`${call.baseUrl}/v1/overlay`)}`,
    `-H ${shell(`x-api-key: ${call.key}`)}`,
    ...(call.asset === undefined ? [] : [`-F ${shell(`asset=@${curlFile(call.asset)}`)}`]),
    // --form-string takes a value as it is; -F would read a leading @ or < as a file.
    ...fields(call).map(([name, value]) => `--form-string ${shell(`${name}=${value}`)}`),
    `-o ${shell(call.output)}`,
  ];
  return parts.join(' \\\n  ');
}

/** In a name, curl reads a comma or semicolon as its own unless the name is quoted. */
function curlFile(name: string): string {
  return /^[\w. /-]+$/u.test(name) ? name : `"${name.replaceAll(/["\\]/gu, String.raw`\$&`)}"`;
}

/** As it is where the shell takes it so, else in single quotes. */
function shell(text: string): string {
  return /^[\w./:@=-]+$/u.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function javascript(call: Call): string {
  const asset = call.asset === undefined ? [] : [`form.append('asset', await openAsBlob(${quote(call.asset)}));`];
  return [
    `import { ${call.asset === undefined ? '' : 'openAsBlob, '}writeFileSync } from ${quote('node:fs')};`,
    '',
    'const form = new FormData();',
    ...asset,
    ...fields(call).map(([name, value]) => `form.append(${quote(name)}, ${quote(value)});`),
    '',
    `const response = await fetch(${quote(`${call.baseUrl}/v1/overlay`)}, {`,
    "  method: 'POST',",
    `  headers: { 'x-api-key': ${quote(call.key)} },`,
    '  body: form,',
    '});',
    'if (!response.ok) throw new Error(await response.text());',
    `writeFileSync(${quote(call.output)}, Buffer.from(await response.arrayBuffer()));`,
  ].join('\n');
}

/** A JSON string in single quotes is one of JavaScript; captions read better without escaped double quotes. */
function quote(text: string): string {
  const inside = JSON.stringify(text).slice(1, -1);
  return `'${inside.replaceAll(String.raw`\"`, '"').replaceAll("'", String.raw`\'`)}'`;
}

function python(call: Call): string {
  const data = fields(call).map(([name, value]) => `        ${pythonString(name)}: ${pythonString(value)},`);
  const files = call.asset === undefined ? [] : [`    files={"asset": open(${pythonString(call.asset)}, "rb")},`];
  return [
    'import requests',
    '',
    'response = requests.post(',
    `    ${pythonString(`${call.baseUrl}/v1/overlay`)},`,
    `    headers={"x-api-key": ${pythonString(call.key)}},`,
    ...(call.asset === undefined ? multipartWithoutFile(call) : ['    data={', ...data, '    },', ...files]),
    ')',
    'response.raise_for_status()',
    `open(${pythonString(call.output)}, "wb").write(response.content)`,
  ].join('\n');
}

/** Without a file, this library sends a plain form unless fields are given as files without a name. */
function multipartWithoutFile(call: Call): string[] {
  const data = fields(call).map(([name, value]) => `        ${pythonString(name)}: (None, ${pythonString(value)}),`);
  return ['    files={', ...data, '    },'];
}

/** JSON's escapes mean the same in Python, but for pairs of surrogates, which JSON.stringify leaves as characters. */
function pythonString(text: string): string {
  return JSON.stringify(text);
}

/** A node to paste into the editor. The file comes from the node before, in its field `data`. */
function n8n(call: Call): string {
  const body = fields(call).map(([name, value]) => ({ parameterType: 'formData', name, value }));
  const file = { parameterType: 'formBinaryData', name: 'asset', inputDataFieldName: 'data' };
  const node = {
    parameters: {
      method: 'POST',
      url: `${call.baseUrl}/v1/overlay`,
      sendHeaders: true,
      headerParameters: { parameters: [{ name: 'x-api-key', value: call.key }] },
      sendBody: true,
      contentType: 'multipart-form-data',
      bodyParameters: { parameters: call.asset === undefined ? body : [file, ...body] },
      options: { response: { response: { responseFormat: 'file' } } },
    },
    type: 'n8n-nodes-base.httpRequest',
    typeVersion: 4.2,
    position: [0, 0],
    name: 'Caption bars',
  };
  return JSON.stringify({ nodes: [node], connections: {} }, null, 2);
}
