// A stand-in for a transcription service that is compatible with OpenAI: it checks nothing, keeps what it got and responds as
// a test says.

import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface ReceivedSound {
  readonly headers: IncomingHttpHeaders;
  /** The fields of the form besides the file. */
  readonly fields: readonly (readonly [string, string])[];
  readonly wav: Buffer;
}

type Respond = (response: ServerResponse, sound: ReceivedSound) => void;

export interface TranscriptionStandIn {
  /** The full address, as the setting has it. */
  readonly url: string;
  readonly received: ReceivedSound[];
  /** Requests whose connection ended before the response. */
  readonly broken: { count: number };
  /** How the next requests are responded to. */
  respond: Respond;
  stop(): Promise<void>;
}

/** What OpenAI returns for `verbose_json` with words and segments. */
export const HELLO = {
  task: 'transcribe',
  language: 'english',
  duration: 2,
  text: 'Hello there, friend. Goodbye!',
  words: [
    { word: 'Hello', start: 0.1, end: 0.4 },
    { word: 'there', start: 0.4, end: 0.7 },
    { word: 'friend', start: 0.7, end: 1 },
    { word: 'Goodbye', start: 1.2, end: 1.6 },
  ],
  segments: [{ id: 0, start: 0, end: 2, text: ' Hello there, friend. Goodbye!', avg_logprob: -0.3 }],
};

export const json =
  (value: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Respond =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
  };

/** What speech recognition invents for silence, with Whisper's own doubts. */
export const INVENTED = {
  language: 'english',
  text: 'Hello there. Thanks for watching!',
  words: [
    { word: 'Hello', start: 0.1, end: 0.4 },
    { word: 'there', start: 0.4, end: 0.7 },
    { word: 'Thanks', start: 1.1, end: 1.3 },
    { word: 'for', start: 1.3, end: 1.5 },
    { word: 'watching', start: 1.5, end: 1.9 },
  ],
  segments: [
    { start: 0, end: 1, text: ' Hello there.', no_speech_prob: 0.1, avg_logprob: -0.3, compression_ratio: 1 },
    { start: 1, end: 2, text: ' Thanks for watching!', no_speech_prob: 0.8, avg_logprob: -1.4, compression_ratio: 1 },
  ],
};

/** Sends informational responses, and never another one. */
export const onlyInformational: Respond = (response) => {
  const send = (): void => {
    if (response.destroyed) return;
    response.writeEarlyHints({ link: '</style.css>; rel=preload' });
    setImmediate(send);
  };
  send();
};

export async function startTranscriptionStandIn(): Promise<TranscriptionStandIn> {
  const broken = { count: 0 };
  const server = createServer((request, response) => {
    response.once('close', () => {
      if (!response.writableFinished) broken.count += 1;
    });
    void receive(request).then((sound) => {
      standIn.received.push(sound);
      standIn.respond(response, sound);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const standIn: TranscriptionStandIn = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/audio/transcriptions`,
    received: [],
    broken,
    respond: json(HELLO),
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return standIn;
}

async function receive(request: IncomingMessage): Promise<ReceivedSound> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const body = Buffer.concat(chunks).toString('latin1');
  const boundary = /boundary=(\S+)/u.exec(request.headers['content-type'] ?? '')?.[1] ?? '';
  const parts = body.split(`--${boundary}`).flatMap((part) => {
    const [, name, content] = /name="([^"]*)"[^]*?\r\n\r\n([^]*)\r\n$/u.exec(part) ?? [];
    return name === undefined || content === undefined ? [] : [[name, content] as const];
  });
  const file = parts.find(([name]) => name === 'file')?.[1] ?? '';
  return {
    headers: request.headers,
    fields: parts.filter(([name]) => name !== 'file'),
    wav: Buffer.from(file, 'latin1'),
  };
}

/** Seconds of sound in a WAV file of 16-bit samples at 16 kHz. */
export function secondsOf(wav: Buffer): number {
  return (wav.length - 44) / 32_000;
}
