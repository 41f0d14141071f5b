// Sends emails over SMTP.

import { createTransport } from 'nodemailer';

export interface Email {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** The same for every attempt to send the same email, so that mail servers can recognize a repetition. */
  readonly id?: string;
}

/** The mail server works, but didn't accept this email. */
export class EmailRefused extends Error {
  /** The server will never accept an email to this recipient. */
  readonly isPermanent: boolean;

  constructor(cause: Error, isPermanent: boolean) {
    super(cause.message, { cause });
    this.name = 'EmailRefused';
    this.isPermanent = isPermanent;
  }
}

export interface Mailer {
  /** Resolves when the mail server has accepted the email. Rejects with `EmailRefused` when only this email has failed. */
  send(email: Email): Promise<void>;
}

export interface SmtpOptions {
  /** `smtp://` or `smtps://`, with the user and password if the server requires them. */
  readonly url: string;
  readonly from: string;
}

const TIMEOUT_MS = 10_000;
/** The status of a server that shuts down, whatever the command. */
const SERVICE_CLOSING = 421;
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
    const message = { from: this.#from, to: { name: '', address: to }, subject, text, ...messageId };
    try {
      await this.#transport.sendMail(message);
    } catch (error) {
      throw refusalOf(error) ?? error;
    }
  }

  /** Connects and signs in, without sending an email. */
  async verify(): Promise<void> {
    await this.#transport.verify();
  }

  close(): void {
    this.#transport.close();
  }
}

/**
 * Returns undefined when the error doesn't concern one email: no connection, a wrong password, or a sender that isn't
 * allowed.
 */
function refusalOf(error: unknown): EmailRefused | undefined {
  if (!(error instanceof Error)) return undefined;
  const { command, responseCode } = error as Error & { readonly command?: unknown; readonly responseCode?: unknown };
  if ((command !== 'RCPT TO' && command !== 'DATA') || typeof responseCode !== 'number') return undefined;
  if (responseCode === SERVICE_CLOSING) return undefined;
  return new EmailRefused(error, command === 'RCPT TO' && responseCode >= 500);
}
