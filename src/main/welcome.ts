// The output of `storybar serve` when it has started. The first key and the operator's link are secrets, and output
// that isn't a terminal is usually kept as a log. There, the server only names the commands that create them.

import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PlanBook } from '../service/account/plans.ts';
import type { Settings } from '../service/config/settings.ts';
import type { Store } from '../service/store/store.ts';
import type { Logger } from '../service/telemetry/logger.ts';
import { issueKey, openAccount } from './issue-key.ts';
import { createPasswordLink } from './password-link.ts';
import { VERSION } from './version.ts';

const SAMPLE_PHOTO = fileURLToPath(new URL('../../examples/photo.jpg', import.meta.url));

export interface WelcomeOptions {
  readonly settings: Pick<Settings, 'operatorEmail' | 'publicUrl'>;
  readonly store: Store;
  readonly plans: PlanBook;
  readonly url: string;
  readonly logger: Logger;
  readonly showSecrets: boolean;
}

/** Never rejects. The server is listening already, so a database that is unavailable for a moment must not end it. */
export async function printWelcome(options: WelcomeOptions): Promise<void> {
  const { url, logger } = options;
  const text = await greeting(options).catch((error: unknown) => {
    logger.warn({ err: error }, 'first key and operator not checked');
    return welcome(url, undefined);
  });
  process.stdout.write(text);
}

async function greeting(options: WelcomeOptions): Promise<string> {
  const key = await firstKey(options);
  const largest = options.plans.plans.at(-1)?.name;
  return welcome(options.url, key, largest) + (await operatorInstructions(options));
}

/** A new installation gets an account on the largest plan, for the operator's own use. */
async function firstKey({ store, plans, logger, showSecrets }: WelcomeOptions): Promise<string | undefined> {
  const plan = plans.plans.at(-1);
  if (plan === undefined || (await store.accounts.count()) > 0) return undefined;
  if (!showSecrets) {
    logger.info({ command: createCommand(plan.name) }, 'no API key exists yet');
    return undefined;
  }
  const accountId = await openAccount(store, plan.name, 'local', 'system');
  return (await issueKey(store, accountId, { name: 'local', mode: 'live' }, 'system')).key;
}

/**
 * Returns instructions until the address in STORYBAR_OPERATOR_EMAIL belongs to an operator, and an empty text
 * afterwards.
 */
async function operatorInstructions({ settings, store, url, logger, showSecrets }: WelcomeOptions): Promise<string> {
  const { operatorEmail, publicUrl } = settings;
  if (operatorEmail === '') return '';
  const user = await store.users.findByEmail(operatorEmail);
  if (user?.role === 'operator') return '';
  // Someone else may have signed up with the address, so it isn't promoted automatically.
  if (user !== undefined) {
    return `${operatorEmail} isn't an operator yet. To promote: npx storybar users promote ${operatorEmail}\n\n`;
  }
  if (!showSecrets) {
    logger.info({ command: `storybar users invite ${operatorEmail} --operator` }, 'the operator has no password yet');
    return '';
  }
  const link = { email: operatorEmail, role: 'operator', accountId: null } as const;
  const linkUrl = await createPasswordLink(store, link, publicUrl || url, 'system');
  return `To set the password of the operator ${operatorEmail}, open this link within 24 hours:\n\n  ${linkUrl}\n\n`;
}

/** The log, the banner and the README name the same command. */
function createCommand(plan: string): string {
  return `storybar keys create --plan ${plan} --name first`;
}

function welcome(url: string, newKey: string | undefined, plan = 'free'): string {
  const lines = ['', `Storybar ${VERSION} listens on ${url}`, ''];
  if (newKey === undefined) {
    lines.push(`Create a key with: npx ${createCommand(plan)}`, '');
    return lines.join('\n');
  }
  lines.push(
    'This is a new installation. Here is your first API key; it is shown only once:',
    '',
    `  ${newKey}`,
    '',
    'Try it:',
    '',
    `  curl ${url}/v1/overlay \\`,
    `    -H 'x-api-key: ${newKey}' \\`,
    `    -F asset=@${samplePhoto()} \\`,
    `    -F 'text=Golden hour, no filter needed 🌅' \\`,
    '    -o captioned.png',
    '',
  );
  return lines.join('\n');
}

function samplePhoto(): string {
  const relative = path.relative(process.cwd(), SAMPLE_PHOTO);
  return existsSync(relative) && !relative.startsWith('..') ? relative : SAMPLE_PHOTO;
}
