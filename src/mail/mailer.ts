// Sends emails over SMTP.

import { createTransport } from 'nodemailer';

export interface Email {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** The same for every attempt to send the same email, so that mail servers can recognize a repetition. */
  readonly id?: string;
}

export interface Mailer {
  /** Resolves when the mail server has accepted the email. */
  send(email: Email): Promise<void>;
}

export interface SmtpOptions {
  /** `smtp://` or `smtps://`, with the user and password if the server requires them. */
  readonly url: string;
  readonly from: string;
}

const TIMEOUT_MS = 10_000;
const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/u;

export class SmtpMailer implements Mailer {
  readonly #from: string;
  readonly #transport: ReturnType<typeof createTransport>;

  constructor({ url, from }: SmtpOptions) {
    this.#from = from;
    const { username, hostname } = new URL(url);
    this.#transport = createTransport({
      url,
      connectionTimeout: TIMEOUT_MS,
      greetingTimeout: TIMEOUT_MS,
      socketTimeout: TIMEOUT_MS,
      // A password never leaves the machine unencrypted.
      requireTLS: username !== '' && !LOOPBACK.test(hostname),
      disableFileAccess: true,
      disableUrlAccess: true,
    });
  }

  async send({ to, subject, text, id }: Email): Promise<void> {
    const messageId = id === undefined ? {} : { messageId: `<${id}@storybar>` };
    await this.#transport.sendMail({ from: this.#from, to: { name: '', address: to }, subject, text, ...messageId });
  }

  close(): void {
    this.#transport.close();
  }
}
