// Somebody at the site without a browser: remembers cookies, sends forms with the token of the page they are on, and can be
// made to do what no browser would.

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Where it leads, without following. */
  readonly location: string | null;
}

interface Init {
  readonly method?: string;
  readonly body?: URLSearchParams;
  readonly headers: Record<string, string>;
}

export class Visitor {
  readonly #origin: string;
  readonly cookies = new Map<string, string>();

  readonly #address: string | undefined;

  /** With an address, they come through a proxy that says it is theirs. */
  constructor(url: string, address?: string) {
    this.#origin = new URL(url).origin;
    this.#address = address;
  }

  async get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
    return await this.#ask(path, { headers });
  }

  /** Opens the page and sends its form. */
  async submit(page: string, fields: Readonly<Record<string, string>>, action = page): Promise<Answer> {
    return await this.send(action, { token: await this.tokenOf(page), ...fields });
  }

  /** Sends a form as it stands, from a page of the site unless headers say otherwise. */
  async send(
    path: string,
    fields: Readonly<Record<string, string>>,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const own = { origin: this.#origin, 'sec-fetch-site': 'same-origin' };
    const body = new URLSearchParams(fields);
    return await this.#ask(path, { method: 'POST', body, headers: { ...own, ...headers } });
  }

  async tokenOf(page: string): Promise<string> {
    const { text, status } = await this.get(page);
    const token = /name="token" value="(?<token>[^"]+)"/u.exec(text)?.groups?.['token'];
    if (token === undefined) throw new Error(`${page} (${status}) has no form`);
    return token;
  }

  async signUp(email: string, password = PASSWORD): Promise<Answer> {
    return await this.submit('/signup', { email, password });
  }

  async signIn(email: string, password = PASSWORD): Promise<Answer> {
    return await this.submit('/signin', { email, password });
  }

  /** Signed up, on a plan. */
  async settle(email: string, plan = 'starter'): Promise<void> {
    await this.signUp(email);
    await this.submit('/dashboard/plan', { plan });
  }

  /** Makes a key and returns it with its id. */
  async makeKey(fields: Readonly<Record<string, string>> = {}): Promise<{ key: string; id: string }> {
    const before = new Set(await this.keyIds());
    const { text } = await this.submit('/dashboard/keys', { name: 'shop', mode: 'live', origins: '', ...fields });
    const key = /sb_(?:live|test)_\w{33}/u.exec(text)?.[0];
    const id = (await this.keyIds()).find((each) => !before.has(each));
    if (key === undefined || id === undefined) throw new Error(`no key: ${text}`);
    return { key, id };
  }

  async keyIds(): Promise<string[]> {
    const { text } = await this.get('/dashboard/keys');
    return [...text.matchAll(/href="\/dashboard\/keys\/([\w-]+)"/gu)].map(([, id = '']) => id);
  }

  async #ask(path: string, { headers, ...init }: Init): Promise<Answer> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const usual = {
      accept: 'text/html',
      ...(cookie !== '' && { cookie }),
      ...(this.#address !== undefined && { 'x-forwarded-for': this.#address }),
    };
    const response = await fetch(`${this.#origin}${path}`, {
      ...init,
      redirect: 'manual',
      headers: { ...usual, ...headers },
    });
    for (const line of response.headers.getSetCookie()) this.#keep(line);
    const { status, headers: got } = response;
    return { status, headers: got, text: await response.text(), location: got.get('location') };
  }

  #keep(line: string): void {
    const [pair = '', ...attributes] = line.split('; ');
    const [name = '', value = ''] = pair.split('=');
    if (attributes.includes('Max-Age=0')) this.cookies.delete(name);
    else this.cookies.set(name, value);
  }
}

export const PASSWORD = 'a horse, a staple, a battery';
