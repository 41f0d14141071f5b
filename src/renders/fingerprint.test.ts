import { describe, expect, it } from 'vitest';
import { fingerprint } from './fingerprint.ts';

const of = (fields: Readonly<Record<string, unknown>>): string =>
  fingerprint({ fields: Object.entries(fields).map(([name, value]) => ({ name, value })), asset: undefined });

const URL_TEXT = 'https://bucket.example/a.png?X-Amz-Signature=';

describe('the fingerprint of a request', () => {
  it('is the same for another signature of the bucket, in the URL and in the headers', () => {
    const first = { text: 'Hi', put_url: `${URL_TEXT}1`, put_headers: '{"x-amz-security-token": "1"}' };
    const again = { text: 'Hi', put_url: `${URL_TEXT}2`, put_headers: '{"x-amz-security-token": "2"}' };
    expect(of(again)).toBe(of(first));
    const { put_headers: _, ...without } = first;
    expect(of(without)).toBe(of(first));
    const batch = (one: typeof first) => of({ requests: [{ ...one, put_headers: JSON.parse(one.put_headers) }] });
    expect(batch(again)).toBe(batch(first));
    expect(batch({ ...first, text: 'Ho' })).not.toBe(batch(first));
  });

  it('differs for another text and for another object of the bucket', () => {
    const first = { text: 'Hi', put_url: `${URL_TEXT}1` };
    expect(of({ ...first, text: 'Ho' })).not.toBe(of(first));
    expect(of({ ...first, put_url: 'https://bucket.example/b.png?X-Amz-Signature=1' })).not.toBe(of(first));
  });
});
