// Steps of visitors on the account pages that many tests share.

import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { PASSWORD } from '../site/visitor.ts';

export async function fill(page: Page, fields: Readonly<Record<string, string>>, button: string): Promise<void> {
  for (const [label, value] of Object.entries(fields)) await page.getByLabel(label, { exact: true }).fill(value);
  await page.getByRole('button', { name: button, exact: true }).click();
}

/** Creates an account with an address of its own, and returns the address. */
export async function signUp(page: Page): Promise<string> {
  const email = `browser-${randomUUID()}@example.com`;
  await page.goto('/signup');
  await fill(page, { Email: email, Password: PASSWORD }, 'Create account');
  await page.waitForURL('**/dashboard/start');
  return email;
}

export async function createKey(page: Page, name: string, origins = ''): Promise<string> {
  await page.goto('/dashboard/keys');
  await fill(page, { Name: name, 'Allowed origins (optional)': origins }, 'Create key');
  return (await page.locator('.new-key code').textContent()) ?? '';
}
