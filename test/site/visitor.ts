// A visitor of the site without a browser. It keeps cookies, sends forms with the token of their page, and can do what
// no browser would.

import { until } from '../running-server.ts';

export interface PageResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The target of a redirect, which isn't followed. */
  readonly location: string | null;
}

interface Init {
  readonly method?: string;
  readonly body?: URLSearchParams;
  readonly headers: Record<string, string>;
}

export class Visitor {
  readonly #origin: string;
  readonly #address: string | undefined;
  readonly cookies = new Map<string, string>();

  /** With an address, requests look as if a proxy forwarded them from there. */
  constructor(url: string, address?: string) {
    this.#origin = new URL(url).origin;
    this.#address = address;
  }

  async get(path: string, headers: Record<string, string> = {}): Promise<PageResponse> {
    return await this.#request(path, { headers });
  }

  /** Opens the page and sends its form. */
  async submit(page: string, fields: Readonly<Record<string, string>>, action = page): Promise<PageResponse> {
    return await this.send(action, { token: await this.tokenOf(page), ...fields });
  }

  /** Sends a form as it is, from a page of the site unless the headers say otherwise. */
  async send(
    path: string,
    fields: Readonly<Record<string, string>>,
    headers: Record<string, string> = {},
  ): Promise<PageResponse> {
    const own = { origin: this.#origin, 'sec-fetch-site': 'same-origin' };
    const body = new URLSearchParams(fields);
    return await this.#request(path, { method: 'POST', body, headers: { ...own, ...headers } });
  }

  async tokenOf(page: string): Promise<string> {
    const { text, status } = await this.get(page);
    const token = /name="token" value="(?<token>[^"]+)"/u.exec(text)?.groups?.['token'];
    if (token === undefined) throw new Error(`${page} (${status}) has no form`);
    return token;
  }

  async signUp(email: string, password = PASSWORD): Promise<PageResponse> {
    return await this.submit('/signup', { email, password });
  }

  async signIn(email: string, password = PASSWORD): Promise<PageResponse> {
    return await this.submit('/signin', { email, password });
  }

  async signUpWithPlan(email: string, plan = 'free'): Promise<void> {
    await this.signUp(email);
    if (plan !== 'free') await this.submit('/dashboard/plan', { plan });
  }

  /** Waits until the usage page contains the text: credits count as used shortly after the last byte of the response. */
  async waitForUsage(text: string): Promise<PageResponse> {
    return await until(async () => {
      const page = await this.get('/dashboard');
      return page.text.includes(text) ? page : undefined;
    });
  }

  async createKey(fields: Readonly<Record<string, string>> = {}): Promise<{ key: string; id: string }> {
    const before = new Set(await this.keyIds());
    const created = await this.submit('/dashboard/keys', { name: 'shop', mode: 'live', origins: '', ...fields });
    const { text } = created.location === null ? created : await this.get(created.location);
    const key = /sb_(?:live|test)_\w{33}/u.exec(text)?.[0];
    const id = (await this.keyIds()).find((each) => !before.has(each));
    if (key === undefined || id === undefined) throw new Error(`no key: ${text}`);
    return { key, id };
  }

  async keyIds(): Promise<string[]> {
    const { text } = await this.get('/dashboard/keys');
    return [...text.matchAll(/href="\/dashboard\/keys\/([\w-]+)"/gu)].map(([, id = '']) => id);
  }

  async #request(path: string, { headers, ...init }: Init): Promise<PageResponse> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const defaults = {
      accept: 'text/html',
      ...(cookie !== '' && { cookie }),
      ...(this.#address !== undefined && { 'x-forwarded-for': this.#address }),
    };
    const response = await fetch(`${this.#origin}${path}`, {
      ...init,
      redirect: 'manual',
      headers: { ...defaults, ...headers },
    });
    for (const line of response.headers.getSetCookie()) this.#storeCookie(line);
    const { status, headers: responseHeaders } = response;
    const location = responseHeaders.get('location');
    return { status, headers: responseHeaders, text: await response.text(), location };
  }

  #storeCookie(line: string): void {
    const [pair = '', ...attributes] = line.split('; ');
    const [name = '', value = ''] = pair.split('=');
    if (attributes.includes('Max-Age=0')) this.cookies.delete(name);
    else this.cookies.set(name, value);
  }
}

export const PASSWORD = 'a horse, a staple, a battery';
