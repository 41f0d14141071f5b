// Sends a form and reports the progress of the upload and the render. `fetch` doesn't report how much of a body is
// sent.

export interface UploadTask {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly form: FormData;
  readonly signal: AbortSignal;
  /** If true, polls the progress of the render, which takes a while for videos. */
  readonly isSlow: boolean;
  /** The fraction of a phase, 0 to 1. Returns undefined while it isn't known. */
  readonly onProgress: (phase: 'upload' | 'render', fraction: number | undefined) => void;
}

const POLL_MS = 700;
const UNREACHABLE = "Couldn't reach the server. Check your connection and try again.";

/** Throws an `AbortError` when the signal fires. */
export async function send(sending: UploadTask): Promise<Response> {
  const { path, headers, form, signal, isSlow, onProgress } = sending;
  const request = new XMLHttpRequest();
  const progressId = crypto.randomUUID();
  let polling: ReturnType<typeof setInterval> | undefined;
  request.open('POST', path);
  request.responseType = 'blob';
  request.setRequestHeader('x-progress-id', progressId);
  for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
  request.upload.addEventListener('progress', ({ loaded, total }) => onProgress('upload', loaded / total));
  request.upload.addEventListener('load', () => {
    onProgress('render', undefined);
    if (isSlow) polling = setInterval(() => void poll(progressId, onProgress, signal), POLL_MS);
  });
  const abort = (): void => request.abort();
  signal.addEventListener('abort', abort);
  try {
    signal.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      request.addEventListener('load', () => resolve());
      request.addEventListener('error', () => reject(new Error(UNREACHABLE)));
      request.addEventListener('abort', () => reject(signal.reason as Error));
      request.send(form);
    });
  } finally {
    clearInterval(polling);
    signal.removeEventListener('abort', abort);
  }
  return new Response(request.response as Blob, { status: request.status, headers: headersOf(request) });
}

/** Another server may have the render, and workers on other machines don't report. Then the progress is unknown. */
async function poll(id: string, onProgress: UploadTask['onProgress'], signal: AbortSignal): Promise<void> {
  try {
    const response = await fetch(`/playground/progress/${id}`, { signal });
    if (response.status !== 200) return;
    const { progress } = (await response.json()) as { progress?: number };
    if (progress !== undefined && progress > 0 && !signal.aborted) onProgress('render', progress);
  } catch {
    // The next poll may succeed, and the render doesn't depend on it.
  }
}

function headersOf(request: XMLHttpRequest): Headers {
  const lines = request.getAllResponseHeaders().trim().split('\r\n');
  const headers = new Headers();
  for (const line of lines) {
    const [name = '', ...value] = line.split(': ');
    if (name !== '') headers.append(name, value.join(': '));
  }
  return headers;
}
