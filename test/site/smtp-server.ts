// A mail server on loopback that takes everything and keeps it.

import { createServer, type Server, type Socket } from 'node:net';
import { until } from '../running-server.ts';

export interface ReceivedMail {
  readonly to: string;
  readonly text: string;
}

export class SmtpServer {
  readonly mails: ReceivedMail[] = [];
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((socket) => this.#talk(socket));
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
    if (address === null || typeof address === 'string') throw new Error('the mail server does not listen');
    return `smtp://127.0.0.1:${address.port}`;
  }

  async mailTo(address: string, count = 1): Promise<ReceivedMail> {
    return await until(() => this.mails.filter(({ to }) => to === address)[count - 1]);
  }

  async stop(): Promise<void> {
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }

  #talk(socket: Socket): void {
    let rest = '';
    let to = '';
    let message: string[] | undefined;
    const say = (line: string): void => void socket.write(`${line}\r\n`);
    const hear = (line: string): void => {
      if (message !== undefined) {
        if (line !== '.') return void message.push(line);
        this.mails.push({ to, text: unfold(message.join('\n')) });
        message = undefined;
        return say('250 taken');
      }
      const [verb = ''] = line.toUpperCase().split(' ');
      if (verb === 'RCPT') to = /<(?<address>[^>]+)>/u.exec(line)?.groups?.['address'] ?? '';
      if (verb === 'DATA') message = [];
      say(verb === 'DATA' ? '354 go on' : verb === 'QUIT' ? '221 bye' : '250 ok');
    };
    socket.setEncoding('utf8').on('error', () => socket.destroy());
    socket.on('data', (text: string) => {
      const lines = (rest + text).split('\r\n');
      rest = lines.pop() ?? '';
      lines.forEach(hear);
    });
    say('220 here');
  }
}

/** Quoted-printable, as far as our mails use it. */
function unfold(text: string): string {
  return text
    .replaceAll(/=\n/gu, '')
    .replaceAll(/=([\dA-F]{2})/gu, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
}
