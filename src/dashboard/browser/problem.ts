// What the service says when it refuses.

interface Problem {
  readonly detail?: string;
  readonly errors?: readonly { readonly pointer: string; readonly detail: string }[];
}

/** One sentence for a person; every fault where there are several. */
export async function explain(response: Response): Promise<string> {
  try {
    const { detail, errors } = (await response.json()) as Problem;
    if (errors !== undefined && errors.length > 1) return errors.map((fault) => fault.detail).join(' ');
    return detail ?? `The server answered ${response.status}.`;
  } catch {
    return `The server answered ${response.status}.`;
  }
}
