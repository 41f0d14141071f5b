// Limits attempts to sign in, sign up, and reset or change a password. The limits by network and by account stop one machine
// from trying many accounts and many machines from trying one account. Servers that share a database share the limits.

import type { Rate } from '../../service/account/gcra.ts';
import { hashSecret } from '../../service/account/secret.ts';
import { assertRate } from '../../service/limits/assert-rate.ts';
import { networkOf, wideNetworkOf } from '../../service/limits/network.ts';
import type { Limits } from '../../service/store/limits.ts';

const QUARTER_HOUR_MS = 15 * 60_000;
const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;

/**
 * The limit of one network on one account. For sign-ins it is lower than the limit of the account, so one network can't
 * use that up.
 */
const PAIR_RATE: Rate = { burst: 10, windowMs: QUARTER_HOUR_MS };

interface ActionRates {
  readonly network: Rate;
  /** If undefined, other networks can't use up the attempts for an account. */
  readonly account?: Rate;
  /** When those are used up: further attempts for the account, of networks that haven't had one of these in the last 15 minutes. */
  readonly newNetworks?: Rate;
  readonly pair?: Rate;
}

const RATES = {
  signIn: {
    network: { burst: 60, windowMs: QUARTER_HOUR_MS },
    account: { burst: 20, windowMs: QUARTER_HOUR_MS },
    newNetworks: { burst: 20, windowMs: QUARTER_HOUR_MS },
  },
  signUp: { network: { burst: 20, windowMs: HOUR_MS }, account: { burst: 5, windowMs: HOUR_MS } },
  /** The number of emails to an account is limited by the links in them; see `MAX_MAILED_LINKS`. */
  reset: { network: { burst: 20, windowMs: HOUR_MS }, pair: { burst: 5, windowMs: HOUR_MS } },
  password: { network: { burst: 60, windowMs: QUARTER_HOUR_MS }, account: { burst: 10, windowMs: QUARTER_HOUR_MS } },
  invite: { network: { burst: 20, windowMs: HOUR_MS }, account: { burst: 20, windowMs: HOUR_MS } },
  export: { network: { burst: 20, windowMs: HOUR_MS }, account: { burst: 10, windowMs: HOUR_MS } },
  /** A code has only a million values, so a user gets few attempts, wherever they come from. */
  code: { network: { burst: 30, windowMs: QUARTER_HOUR_MS }, account: { burst: 10, windowMs: QUARTER_HOUR_MS } },
} as const satisfies Record<string, ActionRates>;

/** The share of one network in the attempts for new networks. Attempts that are refused don't make the wait longer. */
const NEW_NETWORK_RATE: Rate = { burst: 1, windowMs: QUARTER_HOUR_MS };
/** The number of accounts that a network can create. */
const DAILY_SIGN_UPS: Rate = { burst: 20, windowMs: DAY_MS };
/** The number of accounts of one mailbox that get live credits without the operator's approval. */
const LIVE_ACCOUNTS: Rate = { burst: 3, windowMs: 30 * DAY_MS };
/** The limit of a browser that has signed in before, on the account it signed in to. */
const DEVICE_RATE: Rate = { burst: 10, windowMs: QUARTER_HOUR_MS };
/** The number of codes for a user in a day, so that a patient stranger who has the password can't guess one. */
const DAILY_CODES: Rate = { burst: 40, windowMs: DAY_MS };
/** The limit of passkey challenges, each of which is a row in the database, and of attempts to sign in with one. */
const PASSKEY_RATE: Rate = { burst: 60, windowMs: QUARTER_HOUR_MS };
/**
 * The limit of leaving for a sign-in provider and coming back, each of which can make this server send requests to it.
 */
const PROVIDER_RATE: Rate = { burst: 120, windowMs: QUARTER_HOUR_MS };

export class Throttle {
  readonly #limits: Pick<Limits, 'take'>;

  constructor(limits: Pick<Limits, 'take'>) {
    this.#limits = limits;
  }

  /** Counts an attempt, successful or not. Throws when there were too many. */
  async take(action: keyof typeof RATES, address: string, account: string): Promise<void> {
    const network = networkOf(address);
    const rates: ActionRates = RATES[action];
    await this.#take(`${action} from ${network}`, rates.network);
    await this.#take(`${action} from ${network} to ${account}`, rates.pair ?? PAIR_RATE);
    if (rates.account === undefined) return;
    const toAccount = `${action} to ${account}`;
    if (rates.newNetworks === undefined) return await this.#take(toAccount, rates.account);
    const { allowed } = await this.#limits.take(nameOf(toAccount), rates.account);
    if (allowed) return;
    // Strangers who keep guessing take every attempt as soon as there is one, but each of their networks gets only one of these.
    await this.#take(`${toAccount} from the new network ${wideNetworkOf(address)}`, NEW_NETWORK_RATE);
    await this.#take(`${toAccount} from new networks`, rates.newNetworks);
  }

  /** Counts a code of a second factor, right or wrong. Throws when there were too many. */
  async takeCode(address: string, userId: string): Promise<void> {
    await this.take('code', address, userId);
    await this.#take(`code of the day to ${userId}`, DAILY_CODES);
  }

  /** Counts an attempt to sign in from a known device, which doesn't count toward the limits of strangers. */
  async takeForDevice(deviceId: string): Promise<void> {
    await this.#take(`signIn with device ${deviceId}`, DEVICE_RATE);
  }

  /** Counts an account that a visitor creates. */
  async takeSignUp(address: string, account: string): Promise<void> {
    await this.take('signUp', address, account);
    await this.#take(`signUp of the day from ${wideNetworkOf(address)}`, DAILY_SIGN_UPS);
  }

  /**
   * Counts an account whose address is proven. Returns false when the mailbox has already got live credits for several
   * others.
   */
  async allowsLiveAccount(mailbox: string): Promise<boolean> {
    return (await this.#limits.take(nameOf(`live account of ${mailbox}`), LIVE_ACCOUNTS)).allowed;
  }

  /** Counts a challenge for a visitor who hasn't been identified yet. */
  async takeChallenge(address: string): Promise<void> {
    await this.#take(`challenge from ${networkOf(address)}`, PASSKEY_RATE);
  }

  /** Counts by network only. A signature can't be guessed, so attempts to guess a password mustn't block a passkey. */
  async takePasskey(address: string): Promise<void> {
    await this.#take(`passkey from ${networkOf(address)}`, PASSKEY_RATE);
  }

  async takeProviderVisit(address: string): Promise<void> {
    await this.#take(`provider from ${networkOf(address)}`, PROVIDER_RATE);
  }

  async #take(name: string, rate: Rate): Promise<void> {
    const detail = (retryAfterMs: number): string => `Too many attempts. Wait ${waitFor(retryAfterMs)} and try again.`;
    await assertRate(this.#limits, nameOf(name), rate, detail);
  }
}

function waitFor(milliseconds: number): string {
  if (milliseconds > HOUR_MS) return 'a few hours';
  return milliseconds > QUARTER_HOUR_MS ? 'an hour' : 'a few minutes';
}

/** Returns a hash, so the table of limits doesn't reveal who tried to sign in. */
function nameOf(limit: string): string {
  return `site:${hashSecret(limit)}`;
}
