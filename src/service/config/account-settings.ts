// Settings of plans, payments, the marketplace, sign-up and email.

import path from 'node:path';
import { list, oneOf, stripeApiUrl, webhookSecrets, wholeNumber } from './parse.ts';
import { setting } from './setting.ts';

export const ACCOUNT_SETTINGS = {
  plansFile: setting(
    'STORYBAR_PLANS',
    '',
    'Plans file; see docs/plans.md. Default: `./plans.json` if it exists, otherwise the built-in plans.',
    (text) => ({ value: text === '' ? '' : path.resolve(text) }),
  ),
  billing: setting(
    'STORYBAR_BILLING',
    'manual',
    'Payment provider. `manual`: no payments; customers can choose free plans, and the operator assigns the others. `stripe`: see docs/payments.md.',
    oneOf(['manual', 'stripe']),
  ),
  stripeSecretKey: setting(
    'STORYBAR_STRIPE_SECRET_KEY',
    '',
    'Secret key (`sk_...`) or restricted key (`rk_...`) of the Stripe account.',
    (text) => (/^(?:(?:sk|rk)_\S+)?$/u.test(text) ? { value: text } : { fault: 'must begin with sk_ or rk_' }),
  ),
  stripeWebhookSecrets: setting(
    'STORYBAR_STRIPE_WEBHOOK_SECRETS',
    '',
    'Comma-separated signing secrets (`whsec_...`) of the webhook endpoint. List two while you rotate one.',
    webhookSecrets,
  ),
  stripeApiUrl: setting(
    'STORYBAR_STRIPE_API_URL',
    '',
    "Address of Stripe's API, to use a proxy or for tests. Default: Stripe's own.",
    stripeApiUrl,
  ),
  marketplaceName: setting(
    'STORYBAR_MARKETPLACE_NAME',
    'rapidapi',
    'API marketplace whose gateway may forward requests: the name in its headers, such as `x-<name>-proxy-secret`.',
    (text) =>
      /^[a-z0-9-]{1,40}$/u.test(text)
        ? { value: text }
        : { fault: 'must consist of 1 to 40 lower-case letters, digits and dashes' },
  ),
  marketplaceSecrets: setting(
    'STORYBAR_MARKETPLACE_SECRETS',
    '',
    "Comma-separated secrets that authenticate the marketplace's gateway. List two while you rotate one. Default: requests from a marketplace are refused.",
    (text) => ({ value: list(text) }),
  ),
  signUp: setting(
    'STORYBAR_SIGN_UP',
    'open',
    '`open`: anyone who can reach the site can sign up. Live keys need a confirmed email address or, without STORYBAR_SMTP_URL, the approval of an operator. `trusted`: like `open` without approval, for a network where you trust everyone. `closed`: users need an invitation from `storybar users invite`.',
    oneOf(['open', 'trusted', 'closed'] as const),
  ),
  playgroundRendersPerDay: setting(
    'STORYBAR_PLAYGROUND_RENDERS_PER_DAY',
    '50',
    'Images per day that each client address can render in the playground without an API key, refilled evenly. There are 40 times as many previews. Both have a watermark and at most 1,280 pixels on the longer side.',
    wholeNumber(1, 1_000_000),
  ),
  playgroundClipsPerDay: setting(
    'STORYBAR_PLAYGROUND_CLIPS_PER_DAY',
    '200',
    'Videos of up to 10 seconds per day that all visitors together can render in the playground without an API key, refilled evenly. Each client address gets one per day, with a watermark. `0`: videos need a key.',
    wholeNumber(0, 1_000_000),
  ),
  operatorEmail: setting(
    'STORYBAR_OPERATOR_EMAIL',
    '',
    'Email address of the first operator. Until this user exists, `storybar serve` prints a link to choose a password if its output is a terminal; otherwise use `storybar users invite --operator`.',
    (text) =>
      text === '' || text.includes('@') ? { value: text.trim().toLowerCase() } : { fault: 'must be an email address' },
  ),
  smtpUrl: setting(
    'STORYBAR_SMTP_URL',
    '',
    'Mail server, such as `smtps://user:password@host`, for sign-up and password emails. Requires STORYBAR_MAIL_FROM and STORYBAR_PUBLIC_URL. Default: no emails; see docs/dashboard.md.',
    (text) =>
      text === '' || (/^smtps?:\/\//u.test(text) && URL.canParse(text))
        ? { value: text }
        : { fault: 'must begin with smtp:// or smtps://' },
  ),
  mailFrom: setting(
    'STORYBAR_MAIL_FROM',
    '',
    'Sender of emails, such as `Storybar <captions@example.com>`.',
    (text) => ({
      value: text.trim(),
    }),
  ),
} as const;
