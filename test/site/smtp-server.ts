// An SMTP server on loopback that accepts and keeps every email.

import { createServer, type Server, type Socket } from 'node:net';
import { until } from '../running-server.ts';

export interface ReceivedEmail {
  readonly to: string;
  readonly text: string;
}

export class SmtpServer {
  readonly emails: ReceivedEmail[] = [];
  /** Responses to `RCPT TO` other than 250. */
  readonly refusals = new Map<string, string>();
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((socket) => this.#serve(socket));
  }

  static async start(): Promise<SmtpServer> {
    const smtp = new SmtpServer();
    await new Promise<void>((resolve) => {
      smtp.#server.listen(0, '127.0.0.1', resolve);
    });
    return smtp;
  }

  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the SMTP server is not listening');
    return `smtp://127.0.0.1:${address.port}`;
  }

  /** Waits for the nth email to an address. */
  async emailTo(address: string, nth = 1): Promise<ReceivedEmail> {
    return await until(() => this.emails.filter(({ to }) => to === address)[nth - 1]);
  }

  async stop(): Promise<void> {
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }

  #serve(socket: Socket): void {
    let rest = '';
    let to = '';
    let message: string[] | undefined;
    const respond = (line: string): void => void socket.write(`${line}\r\n`);
    const onLine = (line: string): void => {
      if (message !== undefined) {
        if (line !== '.') return void message.push(line);
        this.emails.push({ to, text: decode(message.join('\n')) });
        message = undefined;
        return respond('250 accepted');
      }
      const [verb = ''] = line.toUpperCase().split(' ');
      if (verb === 'RCPT') to = /<(?<address>[^>]+)>/u.exec(line)?.groups?.['address'] ?? '';
      if (verb === 'DATA') message = [];
      const refusal = verb === 'RCPT' ? this.refusals.get(to) : undefined;
      if (refusal !== undefined) return respond(refusal);
      respond(verb === 'DATA' ? '354 continue' : verb === 'QUIT' ? '221 bye' : '250 ok');
    };
    socket.setEncoding('utf8').on('error', () => socket.destroy());
    socket.on('data', (text: string) => {
      const lines = (rest + text).split('\r\n');
      rest = lines.pop() ?? '';
      lines.forEach(onLine);
    });
    respond('220 ready');
  }
}

/** Decodes quoted-printable, as far as our emails use it. */
function decode(text: string): string {
  return text
    .replaceAll(/=\n/gu, '')
    .replaceAll(/=([\dA-F]{2})/gu, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
}
