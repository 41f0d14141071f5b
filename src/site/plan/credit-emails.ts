// Notifies users by email when 80 and 100 percent of the credits of their billing period are used. Every server looks
// for users to notify. A claim in the store decides which server sends the email, so each user gets it once.

import type { PlanBook } from '../../service/account/plans.ts';
import { type Email, EmailRefused, type Mailer } from '../../service/mail/mailer.ts';
import type { CreditNotice, CreditNotices } from '../../service/store/ledger/credit-notices.ts';

export interface CreditEmailsOptions {
  readonly notices: CreditNotices;
  readonly plans: PlanBook;
  readonly mailer: Mailer;
  /** The base URL of links. */
  readonly publicUrl: string;
  readonly onFailed: (error: unknown, notice: CreditNotice) => void;
}

/** The higher one comes first, so a user who has used everything isn't told about 80 percent as well. */
const PERCENTAGES = [100, 80] as const;
const BATCH = 100;

export class CreditEmails {
  readonly #options: CreditEmailsOptions;

  constructor(options: CreditEmailsOptions) {
    this.#options = options;
  }

  /**
   * Sends the emails that are due. A failed email is retried in a later run, unless its recipient is refused
   * permanently.
   */
  async send(): Promise<void> {
    const { notices, plans } = this.#options;
    for (const percent of PERCENTAGES) {
      const withCredits = plans.plans.filter(({ credits }) => credits > 0);
      for (const notice of await notices.due({ percent, plans: withCredits }, BATCH)) {
        // The next run continues with the others.
        if (!(await this.#send(notice))) return;
      }
    }
  }

  /** Returns false when the mail server is unavailable. */
  async #send(notice: CreditNotice): Promise<boolean> {
    const { notices, mailer, onFailed } = this.#options;
    if (!(await notices.claim(notice))) return true;
    try {
      await mailer.send(this.#textOf(notice));
    } catch (error) {
      onFailed(error, notice);
      if (!(error instanceof EmailRefused)) return false;
      if (!error.isPermanent) return true;
    }
    await notices.markSent(notice);
    return true;
  }

  #textOf({ userId, email, percent, used, credits, periodStartsAt, periodEndsAt }: CreditNotice): Email {
    const { publicUrl } = this.#options;
    const resets = DAY.format(new Date(periodEndsAt));
    const isUsedUp = percent === 100;
    return {
      id: `credits-${percent}-${userId}-${Date.parse(periodStartsAt)}-${credits}`,
      to: email,
      subject: isUsedUp ? 'Your Storybar credits are used up' : `You have used ${percent} % of your Storybar credits`,
      text:
        `You have used ${NUMBER.format(used)} credits in this billing period. ` +
        (isUsedUp
          ? `Requests with live keys are rejected until your credits reset on ${resets}. To continue now, choose a larger plan:`
          : `When they are used up, requests with live keys are rejected until the credits reset on ${resets}. See your usage, or choose a larger plan:`) +
        `\n\n${publicUrl}/dashboard\n${publicUrl}/dashboard/plan\n`,
    };
  }
}

const DAY = new Intl.DateTimeFormat('en-US', { month: 'long', day: 'numeric', timeZone: 'UTC' });
const NUMBER = new Intl.NumberFormat('en');
