import { WITH_METRICS_TOKEN } from './running-server.ts';

/** The samples of a `/metrics` endpoint, by name and labels. */
export async function scrape(url: string): Promise<Map<string, number>> {
  const text = await (await fetch(`${url}/metrics`, WITH_METRICS_TOKEN)).text();
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]));
}
