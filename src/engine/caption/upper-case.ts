// Capitals by the rules of a language: Turkish has a dotted capital I, Greek capitals have no accents.

/** A language that this Node.js doesn't know has the usual rules. */
export function upperCase(text: string, lang: string | undefined): string {
  const [language = ''] = (lang ?? '').split('-');
  return /^[a-z]{2,3}$/iu.test(language) ? text.toLocaleUpperCase(language) : text.toUpperCase();
}
