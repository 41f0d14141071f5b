// Messages for visitors: errors from problem+json responses, and warnings.

interface ProblemBody {
  readonly detail?: string;
  readonly errors?: readonly { readonly pointer: string; readonly detail: string }[];
}

/** Returns the detail of the error, or the details of all invalid fields if there are several. */
export async function errorMessage(response: Response): Promise<string> {
  try {
    const { detail, errors } = (await response.json()) as ProblemBody;
    if (errors !== undefined && errors.length > 1) return errors.map((error) => error.detail).join(' ');
    return detail ?? `The server returned ${response.status}. Try again.`;
  } catch {
    return `The server returned ${response.status}. Try again.`;
  }
}

export function missingGlyphsMessage(count: number): string {
  if (count === 1) return "1 character isn't supported and will appear as a box.";
  return `${count} characters aren't supported and will appear as boxes.`;
}
