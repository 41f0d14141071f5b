import { describe, expect, it } from 'vitest';
import { asyncFingerprint, batchFingerprint, waitingFingerprint } from './fingerprint.ts';
import { readForm } from './parse.ts';
import type { ReadRequest } from './received-form.ts';

function read(values: Readonly<Record<string, unknown>>, isJson = true): ReadRequest {
  const fields = Object.entries(values).map(([name, value]) => ({ name, value }));
  return readForm({ fields, isJson, hasAsset: false, asset: undefined, faults: [] });
}

const of = (values: Readonly<Record<string, unknown>>): string => waitingFingerprint(read(values));

const URL_TEXT = 'https://bucket.example/a.png?X-Amz-Signature=';

describe('the fingerprint of a request', () => {
  it('is the same for another signature of the bucket, in the URL and in the headers', () => {
    const first = { text: 'Hi', put_url: `${URL_TEXT}1`, put_headers: { 'x-amz-security-token': '1' } };
    const again = { text: 'Hi', put_url: `${URL_TEXT}2`, put_headers: { 'x-amz-security-token': '2' } };
    expect(of(again)).toBe(of(first));
    const { put_headers: _, ...without } = first;
    expect(of(without)).toBe(of(first));
    const batch = (one: typeof first) => batchFingerprint([read(one)]);
    expect(batch(again)).toBe(batch(first));
    expect(batch({ ...first, text: 'Ho' })).not.toBe(batch(first));
  });

  it('differs for another text and for another object of the bucket', () => {
    const first = { text: 'Hi', put_url: `${URL_TEXT}1` };
    expect(of({ ...first, text: 'Ho' })).not.toBe(of(first));
    expect(of({ ...first, put_url: 'https://bucket.example/b.png?X-Amz-Signature=1' })).not.toBe(of(first));
    expect(of({ text: 'Hi' })).not.toBe(of(first));
  });

  it('is that of the values, whatever their encoding and the order of fields', () => {
    const form = read({ width: '10', style: '{"preset": "box", "size": 2}', text: 'Hi', async: 'false' }, false);
    expect(waitingFingerprint(form)).toBe(of({ text: 'Hi', style: { preset: 'box', size: 2 }, width: 10 }));
  });

  it('differs between a request that waits, an asynchronous one and a batch', () => {
    const one = read({ text: 'Hi' });
    expect(asyncFingerprint(read({ text: 'Hi', async: true }))).toBe(asyncFingerprint(one));
    expect(new Set([waitingFingerprint(one), asyncFingerprint(one), batchFingerprint([one])]).size).toBe(3);
  });
});
