// Code for one API request in several languages. Pages on the server and the playground in the browser both use this
// module, so it depends on neither Node nor the DOM.

export interface SnippetOverlay {
  readonly text: string;
  readonly position?: number;
  /** The time in seconds of the video. */
  readonly start?: number;
  readonly end?: number;
}

export interface SnippetRequest {
  readonly baseUrl: string;
  readonly key: string;
  /** The file name of the asset. Undefined for an overlay-only PNG. */
  readonly asset?: string | undefined;
  /** The URL of the asset instead of a file. The request is sent as JSON. */
  readonly assetUrl?: string | undefined;
  /** The size of an overlay without an asset, or of a file that is fitted. */
  readonly size?: { readonly width: number; readonly height: number } | undefined;
  readonly overlays: readonly SnippetOverlay[];
  /** Subtitles of a video, instead of the overlays. */
  readonly captions?: string | undefined;
  /** If undefined, the default format. */
  readonly format?: string | undefined;
  /** Other form fields, such as the style and the safe area. */
  readonly look?: Readonly<Record<string, string>>;
  readonly output: string;
}

export interface Snippet {
  readonly id: string;
  readonly label: string;
  readonly code: string;
}

export const KEY_PLACEHOLDER = 'sb_live_...';

export function snippetsFor(request: SnippetRequest): Snippet[] {
  return [
    { id: 'curl', label: 'curl', code: curl(request) },
    { id: 'typescript', label: 'TypeScript', code: typescript(request) },
    { id: 'python', label: 'Python', code: python(request) },
    { id: 'n8n', label: 'n8n', code: n8n(request) },
  ];
}

/**
 * Returns the form fields without the asset. A single caption at the default position needs no JSON, unless n8n would
 * read it as an expression.
 */
function fields({ size, overlays, captions, look = {}, format }: SnippetRequest): [string, string][] {
  const further = Object.entries({ ...look, ...(format !== undefined && { format }) });
  const [first] = overlays;
  const isPlain = overlays.length === 1 && isTextOnly(first) && first?.text.startsWith('=') === false;
  const own: [string, string] = isPlain ? ['text', first.text] : ['overlays', JSON.stringify(overlays)];
  const caption: [string, string] = captions === undefined ? own : ['captions', captions];
  const sides: [string, string][] = size
    ? [
        ['width', String(size.width)],
        ['height', String(size.height)],
      ]
    : [];
  return [...sides, caption, ...further];
}

function isTextOnly(overlay: SnippetOverlay | undefined): boolean {
  return overlay?.position === undefined && overlay?.start === undefined && overlay?.end === undefined;
}

/** The fields without the file, with real types. Forms have text instead, such as `66` and the JSON of a style. */
function jsonFields(request: SnippetRequest): Readonly<Record<string, unknown>> {
  const { assetUrl, size, overlays, captions, look = {}, format } = request;
  const [first] = overlays;
  const isPlain = overlays.length === 1 && isTextOnly(first);
  return {
    ...(assetUrl !== undefined && { asset_url: assetUrl }),
    ...size,
    ...(captions !== undefined ? { captions } : isPlain ? { text: first?.text } : { overlays }),
    ...Object.fromEntries(Object.entries(look).map(([name, value]) => [name, typedValue(value)])),
    ...(format !== undefined && { format }),
  };
}

/** One line per field, and one per item of a list. */
function jsonText(values: Readonly<Record<string, unknown>>): string {
  const lines = Object.entries(values).map(([name, value]) => {
    if (!Array.isArray(value)) return `    ${JSON.stringify(name)}: ${JSON.stringify(value)}`;
    const items = value.map((item) => `      ${JSON.stringify(item)}`);
    return `    ${JSON.stringify(name)}: [\n${items.join(',\n')}\n    ]`;
  });
  return `{\n${lines.join(',\n')}\n  }`;
}

function curl(request: SnippetRequest): string {
  if (request.assetUrl !== undefined) {
    return [
      `curl ${shell(`${request.baseUrl}/v1/overlay`)}`,
      `-H ${shell(`x-api-key: ${request.key}`)}`,
      `-H ${shell('content-type: application/json')}`,
      `--data-binary ${shell(jsonText(jsonFields(request)))}`,
      `-o ${shell(request.output)}`,
    ].join(' \\\n  ');
  }
  const parts = [
    `curl ${shell(`${request.baseUrl}/v1/overlay`)}`,
    `-H ${shell(`x-api-key: ${request.key}`)}`,
    ...(request.asset === undefined ? [] : [`-F ${shell(`asset=@${curlFile(request.asset)}`)}`]),
    // --form-string sends a value as is, while -F reads a leading @ or < as a file name.
    ...fields(request).map(([name, value]) => `--form-string ${shell(`${name}=${value}`)}`),
    `-o ${shell(request.output)}`,
  ];
  return parts.join(' \\\n  ');
}

/** curl treats commas and semicolons in a file name as separators unless the name is quoted. */
function curlFile(name: string): string {
  return /^[\w. /-]+$/u.test(name) ? name : `"${name.replaceAll(/["\\]/gu, String.raw`\$&`)}"`;
}

/** Adds single quotes where the shell needs them. */
function shell(text: string): string {
  return /^[\w./:@=-]+$/u.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** With the package `@storybar/client`. The code is valid JavaScript, too. */
function typescript(request: SnippetRequest): string {
  const named = { ...(request.asset !== undefined && { asset: request.asset }), ...jsonFields(request) };
  return [
    `// The client: ${request.baseUrl}/docs/integrations#clients`,
    `import { Storybar } from ${quote('@storybar/client')};`,
    '',
    `const storybar = new Storybar({ baseUrl: ${quote(request.baseUrl)}, apiKey: ${quote(request.key)} });`,
    `const render = await storybar.caption({`,
    ...Object.entries(named).map(([name, value]) => `  ${name}: ${scriptValue(value, '  ')},`),
    '});',
    `await render.save(${quote(request.output)});`,
  ].join('\n');
}

/** With the package `storybar`. */
function python(request: SnippetRequest): string {
  return [
    `# The client: ${request.baseUrl}/docs/integrations#clients`,
    'from storybar import Storybar',
    '',
    `with Storybar(${pythonString(request.baseUrl)}, ${pythonString(request.key)}) as client:`,
    '    render = client.caption(',
    ...(request.asset === undefined ? [] : [`        ${pythonString(request.asset)},`]),
    ...Object.entries(jsonFields(request)).map(([name, value]) => `        ${name}=${pythonValue(value, '        ')},`),
    '    )',
    `    render.save(${pythonString(request.output)})`,
  ].join('\n');
}

function typedValue(text: string): unknown {
  if (/^-?\d+(?:\.\d+)?$/u.test(text)) return Number(text);
  return text.startsWith('{') ? (JSON.parse(text) as unknown) : text;
}

/** A list has one line per item. */
function scriptValue(value: unknown, indent: string): string {
  if (typeof value === 'string') return quote(value);
  if (Array.isArray(value)) {
    const items = value.map((item) => `${indent}  ${scriptValue(item, indent)},\n`);
    return `[\n${items.join('')}${indent}]`;
  }
  if (typeof value !== 'object' || value === null) return String(value);
  return `{ ${Object.entries(value)
    .map(([name, item]) => `${name}: ${scriptValue(item, indent)}`)
    .join(', ')} }`;
}

/** A JavaScript string in single quotes, which keeps double quotes in captions readable. */
function quote(text: string): string {
  const inside = JSON.stringify(text).slice(1, -1);
  return `'${inside.replaceAll(String.raw`\"`, '"').replaceAll("'", String.raw`\'`)}'`;
}

function pythonValue(value: unknown, indent: string): string {
  if (typeof value === 'string') return pythonString(value);
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) {
    const items = value.map((item) => `${indent}    ${pythonValue(item, indent)},\n`);
    return `[\n${items.join('')}${indent}]`;
  }
  if (typeof value !== 'object' || value === null) return String(value);
  return `{${Object.entries(value)
    .map(([name, item]) => `${pythonString(name)}: ${pythonValue(item, indent)}`)
    .join(', ')}}`;
}

/** JSON escapes mean the same in Python. Surrogate pairs would not, but JSON.stringify doesn't escape them. */
function pythonString(text: string): string {
  return JSON.stringify(text);
}

/** Returns a node to paste into the n8n editor. The file comes from the binary field `data` of the previous node. */
function n8n(request: SnippetRequest): string {
  const body = fields(request).map(([name, value]) => ({ parameterType: 'formData', name, value }));
  const file = { parameterType: 'formBinaryData', name: 'asset', inputDataFieldName: 'data' };
  const node = {
    parameters: {
      method: 'POST',
      url: `${request.baseUrl}/v1/overlay`,
      sendHeaders: true,
      headerParameters: { parameters: [{ name: 'x-api-key', value: request.key }] },
      sendBody: true,
      ...(request.assetUrl === undefined
        ? {
            contentType: 'multipart-form-data',
            bodyParameters: { parameters: request.asset === undefined ? body : [file, ...body] },
          }
        : { specifyBody: 'json', jsonBody: JSON.stringify(jsonFields(request)) }),
      options: { response: { response: { responseFormat: 'file' } } },
    },
    type: 'n8n-nodes-base.httpRequest',
    typeVersion: 4.2,
    position: [0, 0],
    name: 'Add captions',
  };
  return JSON.stringify({ nodes: [node], connections: {} }, null, 2);
}
