import { describe, expect, it } from 'vitest';
import { AppError, type FieldFault } from '../../shared/errors.ts';
import { parseForm } from './form.ts';

function parse(value: unknown, isJson = true): { url: string | undefined; faults: readonly FieldFault[] } {
  const fields = Object.entries({ text: 'Hi', webhook_url: value }).map(([name, one]) => ({ name, value: one }));
  const forbidden = { code: 'forbidden_address', detail: 'forbidden' } as const;
  const checkUrl = ({ hostname }: URL) => (hostname === '10.0.0.1' ? forbidden : undefined);
  try {
    const { delivery } = parseForm({ fields, isJson, hasAsset: true, faults: [] }, checkUrl);
    return { url: delivery.webhookUrl, faults: [] };
  } catch (error) {
    if (error instanceof AppError) return { url: undefined, faults: error.faults };
    throw error;
  }
}

describe('webhook_url', () => {
  it('webhook_url accepts http and https URLs', () => {
    expect(parse('https://example.com/hook?a=1')).toEqual({ url: 'https://example.com/hook?a=1', faults: [] });
    expect(parse('http://example.com:8080', false)).toEqual({ url: 'http://example.com:8080/', faults: [] });
  });

  it('counts as absent when it is blank or null', () => {
    for (const value of ['', '  ', null]) expect(parse(value)).toEqual({ url: undefined, faults: [] });
  });

  it.each([
    [7, 'wrong_type'],
    ['ftp://example.com', 'invalid_url'],
    ['example.com', 'invalid_url'],
    ['https://user@example.com', 'invalid_url'],
    ['https://example.com:25', 'invalid_url'],
    [`https://example.com/${'x'.repeat(2_048)}`, 'invalid_url'],
    ['http://10.0.0.1/', 'forbidden_address'],
  ])('a webhook_url that cannot receive a webhook is refused: %s', (value, code) => {
    const { faults } = parse(value);
    expect(faults).toMatchObject([{ pointer: '#/webhook_url', code }]);
    expect(faults[0]?.detail).not.toContain('asset_url');
  });
});
