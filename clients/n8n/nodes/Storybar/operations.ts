// The operations of the node, each for one item.

import type {
  IDataObject,
  IExecuteFunctions,
  ILoadOptionsFunctions,
  INodeExecutionData,
  INodePropertyOptions,
  JsonObject,
} from 'n8n-workflow';
import { FORMATS } from './lists.generated';
import { apiError, apiRequest, type ApiResponse, download, multipart, parseJson } from './request';

interface Render {
  readonly id: string;
  readonly status: string;
  readonly output?: { readonly url: string | null; readonly content_type: string } | null;
  readonly error?: JsonObject | null;
}

interface SavedStyle {
  readonly name: string;
  readonly version: number;
}

interface UploadedFont {
  readonly id: string;
  readonly family: string;
  readonly style: string;
}

/** -1 stands for a value that the server chooses. */
interface OverlayValues {
  readonly text: string;
  readonly position?: number;
  readonly start?: number;
  readonly end?: number;
}

const MAX_WAIT_MS = 3_600_000;
const LONGEST_POLL_SECONDS = 60;
const MAX_BATCH = 100;

export async function captionFile(context: IExecuteFunctions, item: number): Promise<INodeExecutionData> {
  const fields = captionFields(context, item);
  if (context.getNodeParameter('source', item) === 'url') {
    return await render(context, item, { ...fields, asset_url: context.getNodeParameter('assetUrl', item) as string });
  }
  const property = context.getNodeParameter('binaryPropertyName', item) as string;
  const { fileName } = context.helpers.assertBinaryData(item, property);
  const content = await context.helpers.getBinaryDataBuffer(item, property);
  return await render(context, item, fields, { content, name: fileName ?? 'asset' });
}

export async function overlayOnly(context: IExecuteFunctions, item: number): Promise<INodeExecutionData> {
  const width = context.getNodeParameter('width', item) as number;
  const height = context.getNodeParameter('height', item) as number;
  return await render(context, item, { ...captionFields(context, item), width, height });
}

export async function overlayVideo(context: IExecuteFunctions, item: number): Promise<INodeExecutionData> {
  const canvas = canvasFields(context, item);
  const fps = context.getNodeParameter('fps', item) as number;
  return await render(context, item, { ...captionFields(context, item), ...canvas, fps });
}

export async function previewLayout(context: IExecuteFunctions, item: number): Promise<INodeExecutionData> {
  const body = { ...captionFields(context, item), ...canvasFields(context, item) };
  const response = await apiRequest(context, 'POST', '/v1/layout', { body, json: true }, item);
  return { json: parseJson<IDataObject>(response), pairedItem: { item } };
}

/** Starts one render per item, up to 100 of them with one request. A fault in one refuses those of the same request. */
export async function startBatch(context: IExecuteFunctions): Promise<INodeExecutionData[]> {
  const requests = context.getInputData().map((_, item) => ({
    ...captionFields(context, item),
    asset_url: context.getNodeParameter('assetUrl', item) as string,
  }));
  const started: INodeExecutionData[] = [];
  for (let first = 0; first < requests.length; first += MAX_BATCH) {
    const body = { requests: requests.slice(first, first + MAX_BATCH) };
    const headers = { 'idempotency-key': await idempotencyKey(context, first, body, undefined) };
    const response = await apiRequest(context, 'POST', '/v1/batches', { body, json: true, headers }, first);
    const { renders } = parseJson<{ renders: IDataObject[] }>(response);
    renders.forEach((json, index) => started.push({ json, pairedItem: { item: first + index } }));
  }
  return started;
}

function canvasFields(context: IExecuteFunctions, item: number): IDataObject {
  const names = ['width', 'height', 'duration'];
  const values = names.map((name) => [name, context.getNodeParameter(name, item, 0) as number] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== 0));
}

export async function getRender(context: IExecuteFunctions, item: number): Promise<INodeExecutionData> {
  const id = encodeURIComponent(context.getNodeParameter('renderId', item) as string);
  const waitsForEnd = context.getNodeParameter('waitUntilFinished', item, false) as boolean;
  const wait = waitsForEnd ? LONGEST_POLL_SECONDS : (context.getNodeParameter('waitSeconds', item, 0) as number);
  const deadline = Date.now() + (waitsForEnd ? MAX_WAIT_MS : 0);
  let found: Render;
  do {
    found = parseJson<Render>(await apiRequest(context, 'GET', `/v1/renders/${id}?wait=${wait}`, {}, item));
  } while (['queued', 'rendering'].includes(found.status) && Date.now() < deadline);
  if (found.status === 'failed') {
    throw apiError(context, Number(found.error?.status ?? 500), { ...found.error }, item);
  }
  const json = { ...found } as unknown as IDataObject;
  if (!found.output?.url || !(context.getNodeParameter('download', item, true) as boolean)) {
    return { json, pairedItem: { item } };
  }
  const file = await download(context, found.output.url, item);
  return await withBinary(context, item, json, file, found.id);
}

/** The styles that the account saved, for the list of the form. */
export async function savedStyles(context: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
  const { styles } = parseJson<{ styles: SavedStyle[] }>(await apiRequest(context, 'GET', '/v1/styles'));
  return styles.map(({ name, version }) => ({ name, value: name, description: `Saved style, version ${version}` }));
}

/** The fonts that the account uploaded, for the list of the form. */
export async function uploadedFonts(context: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
  const { fonts } = parseJson<{ fonts: UploadedFont[] }>(await apiRequest(context, 'GET', '/v1/fonts'));
  return fonts.map(({ id, family, style }) => ({
    name: `${family} ${style}`,
    value: id,
    description: 'Font that your account uploaded',
  }));
}

/** The fields that all captions have in common. */
function captionFields(context: IExecuteFunctions, item: number): IDataObject {
  const {
    asynchronous,
    link,
    safeArea,
    colorSpace,
    maxWords,
    maxLines,
    highlight,
    case: letters,
    font,
    style,
    putUrl,
    at,
    fit,
    fitWidth,
    fitHeight,
    maxBytes,
    ...others
  } = context.getNodeParameter('options', item, {}) as IDataObject;
  // An asynchronous render has a link anyway.
  const deliver = link && !asynchronous && !putUrl ? 'url' : undefined;
  const parts = Object.entries({ font, highlight, case: letters }).filter(([, value]) => value && value !== 'none');
  const look = parts.length > 0 ? { ...(style ? { preset: style } : {}), ...Object.fromEntries(parts) } : style;
  const places = {
    safe_area: safeArea,
    color_space: colorSpace,
    max_words: maxWords,
    max_lines: maxLines,
    put_url: putUrl,
    max_bytes: maxBytes,
    ...(fit ? { fit, width: fitWidth ?? 1080, height: fitHeight ?? 1920 } : {}),
  };
  const chosen = Object.entries({ ...others, style: look, ...places, deliver }).filter(([, value]) => value);
  const position = { position: context.getNodeParameter('position', item, -1) as number };
  // The cover of a video may be its first frame.
  const rest = { ...(Object.fromEntries(chosen) as IDataObject), ...(at === undefined ? {} : { at }) };
  const kind = context.getNodeParameter('captions', item) as string;
  if (kind === 'text') return { text: context.getNodeParameter('text', item) as string, ...given(position), ...rest };
  if (kind === 'subtitles') {
    return { captions: context.getNodeParameter('subtitles', item) as string, ...given(position), ...rest };
  }
  const { overlay = [] } = context.getNodeParameter('overlays', item, {}) as { overlay?: OverlayValues[] };
  return {
    overlays: overlay.map(({ text, ...values }) => ({ text, ...given(values) })),
    ...rest,
  };
}

/** Leaves out what the server chooses. */
function given(numbers: Omit<OverlayValues, 'text'>): IDataObject {
  return Object.fromEntries(Object.entries(numbers).filter(([, value]) => (value ?? -1) >= 0));
}

async function render(
  context: IExecuteFunctions,
  item: number,
  fields: IDataObject,
  file?: { readonly content: Buffer; readonly name: string },
): Promise<INodeExecutionData> {
  const { asynchronous } = context.getNodeParameter('options', item, {}) as { asynchronous?: boolean };
  const { headers, ...body } = file ? multipart(fields, file) : { body: fields, json: true, headers: {} };
  const allHeaders = {
    ...headers,
    'idempotency-key': await idempotencyKey(context, item, fields, file?.content),
    ...(asynchronous && { prefer: 'respond-async' }),
  };
  const response = await apiRequest(context, 'POST', '/v1/overlay', { ...body, headers: allHeaders }, item);
  const { headers: facts } = response;
  // The response is a render that goes on, or one with a link.
  if (facts['content-type']?.startsWith('application/json')) {
    return { json: parseJson<IDataObject>(response), pairedItem: { item } };
  }
  const json = {
    renderId: facts['x-render-id'],
    sourceType: facts['x-source-type'],
    warnings: (facts['x-warnings'] ?? '').split(',').flatMap((code) => code.trim() || []),
    missingGlyphs: Number(facts['x-missing-glyphs'] ?? 0),
    creditsCharged: Number(facts['x-credits-charged'] ?? 0),
    creditsRemaining: Number(facts['x-credits-remaining'] ?? 0),
  };
  return await withBinary(context, item, json, response, facts['x-render-id'] ?? 'render');
}

/**
 * The key stays the same when n8n retries the node, so that a retry is rendered and charged once. An agent can use the
 * node several times in one run, so the key also depends on the request.
 */
async function idempotencyKey(
  context: IExecuteFunctions,
  item: number,
  fields: IDataObject,
  file: Buffer | undefined,
): Promise<string> {
  const { $runIndex } = context.getWorkflowDataProxy(item) as { $runIndex?: number };
  const place = [context.getExecutionId(), context.getNode().id, $runIndex ?? 0, item];
  return `n8n-${await hash(JSON.stringify([place, fields, file && (await hash(file))]))}`;
}

async function hash(content: string | Buffer): Promise<string> {
  return Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(content))).toString('hex');
}

async function withBinary(
  context: IExecuteFunctions,
  item: number,
  json: IDataObject,
  { body, headers }: ApiResponse,
  name: string,
): Promise<INodeExecutionData> {
  const type = headers['content-type'] ?? 'application/octet-stream';
  const property = context.getNodeParameter('outputPropertyName', item) as string;
  const extension = FORMATS.find(({ mediaType }) => mediaType === type)?.extension ?? 'bin';
  const data = await context.helpers.prepareBinaryData(body, `${name}.${extension}`, type);
  return { json, binary: { [property]: data }, pairedItem: { item } };
}
