import { describe, expect, it } from 'vitest';
import { AppError } from '../../shared/errors.ts';
import { parseForm } from './form.ts';

function deliveryOf(fields: Readonly<Record<string, unknown>>, isJson = false) {
  const all = Object.entries({ text: 'a', width: isJson ? 64 : '64', height: isJson ? 64 : '64', ...fields });
  const form = { fields: all.map(([name, value]) => ({ name, value })), isJson, hasAsset: false, faults: [] };
  try {
    return parseForm(form).delivery;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return error.faults.map(({ pointer, code }) => `${pointer} ${code}`);
  }
}

describe('async and deliver', () => {
  it.each([
    [{}, { isAsync: false, isLink: false }],
    [
      { async: 'false', deliver: 'bytes' },
      { isAsync: false, isLink: false },
    ],
    [
      { async: '', deliver: ' ' },
      { isAsync: false, isLink: false },
    ],
    [{ async: 'true' }, { isAsync: true, isLink: true }],
    [
      { async: 'true', deliver: 'url' },
      { isAsync: true, isLink: true },
    ],
    [{ deliver: 'url' }, { isAsync: false, isLink: true }],
    [{ async: 'yes' }, ['#/async wrong_type']],
    [{ deliver: 'mail' }, ['#/deliver wrong_type']],
    [{ async: 'true', deliver: 'bytes' }, ['#/deliver conflict']],
  ])('in a form, the fields %j mean %j', (fields, delivery) => {
    expect(deliveryOf(fields)).toEqual(delivery);
  });

  it.each([
    [{ async: true }, { isAsync: true, isLink: true }],
    [
      { async: null, deliver: null },
      { isAsync: false, isLink: false },
    ],
    [{ async: 'true' }, ['#/async wrong_type']],
    [{ deliver: 1 }, ['#/deliver wrong_type']],
  ])('in JSON, the fields %j mean %j', (fields, delivery) => {
    expect(deliveryOf(fields, true)).toEqual(delivery);
  });
});
