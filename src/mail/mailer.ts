// Mails to people, over SMTP. Nobody waits for one: whether an address is known must not show in the time an answer takes.

import { createTransport } from 'nodemailer';

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

export interface Mailer {
  /** Returns at once. */
  post(mail: Mail): void;
  /** After the last mail has gone, or has failed to. */
  close(): Promise<void>;
}

export interface SmtpOptions {
  /** `smtp://` or `smtps://`, with user and password where the server wants them. */
  readonly url: string;
  readonly from: string;
  readonly onFailed: (error: unknown) => void;
}

const TIMEOUT_MS = 10_000;
const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/u;

export class SmtpMailer implements Mailer {
  readonly #options: SmtpOptions;
  readonly #transport: ReturnType<typeof createTransport>;
  readonly #underWay = new Set<Promise<void>>();

  constructor(options: SmtpOptions) {
    this.#options = options;
    const { username, hostname } = new URL(options.url);
    this.#transport = createTransport({
      url: options.url,
      connectionTimeout: TIMEOUT_MS,
      greetingTimeout: TIMEOUT_MS,
      socketTimeout: TIMEOUT_MS,
      // A password never leaves the machine unencrypted.
      requireTLS: username !== '' && !LOOPBACK.test(hostname),
      disableFileAccess: true,
      disableUrlAccess: true,
    });
  }

  post(mail: Mail): void {
    const sending = this.#send(mail)
      .catch(this.#options.onFailed)
      .finally(() => this.#underWay.delete(sending));
    this.#underWay.add(sending);
  }

  async close(): Promise<void> {
    await Promise.all(this.#underWay);
    this.#transport.close();
  }

  async #send({ to, subject, text }: Mail): Promise<void> {
    await this.#transport.sendMail({ from: this.#options.from, to: { name: '', address: to }, subject, text });
  }
}
