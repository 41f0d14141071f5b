// The faults of a request in the words of the command line: a field is the option that sets it.

interface FieldFault {
  readonly pointer: string;
  readonly code: string;
  readonly detail: string;
}

/** What to do about a missing field. Details of the API speak of fields and requests. */
const MISSING: Readonly<Record<string, string>> = {
  '--text': 'A caption is required. Give --text, --overlays or --captions.',
  '--width': 'Give an image or a video, or both --width and --height.',
  '--height': 'Give an image or a video, or both --width and --height.',
};

/** One line per fault, each once. */
export function flagFaults(faults: readonly FieldFault[]): string[] {
  const lines = faults.map(({ pointer, code, detail }) => {
    const option = optionOf(pointer);
    const missing = code === 'required' ? MISSING[option] : undefined;
    return missing ?? `${option}: ${detail}`;
  });
  return [...new Set(lines)];
}

/** `#/overlays/1/position` is `--overlays[1].position`. */
function optionOf(pointer: string): string {
  const [field = '', ...rest] = pointer.replace(/^#\//u, '').split('/');
  const path = rest.map((part) => (/^\d+$/u.test(part) ? `[${part}]` : `.${part}`)).join('');
  return `--${field.replaceAll('_', '-')}${path}`;
}
