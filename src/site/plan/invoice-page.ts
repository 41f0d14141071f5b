// The list of invoices. It is a page of its own because it sends requests to the payment provider.

import type { Billing, InvoiceSummary } from '../../service/billing/billing.ts';
import { timeElement } from '../account/fields.ts';
import { form, sendPrivate } from '../account/frame.ts';
import type { SignedInRoutes } from '../account/signed-in-routes.ts';
import { type Html, html } from '../html.ts';
import type { Site } from '../page.ts';
import { table } from '../tables.ts';
import { money } from './money.ts';

export const INVOICES_PATH = '/dashboard/plan/invoices';
const STATES: Readonly<Record<string, string>> = {
  draft: 'Draft',
  open: 'Unpaid',
  paid: 'Paid',
  uncollectible: 'Not collected',
  void: 'Canceled',
};

export function addInvoicePage(routes: SignedInRoutes, site: Site, billing: Billing): void {
  routes.page({ path: INVOICES_PATH, permission: 'pay' }, async (visit) => {
    const invoices = await billing.invoices(visit.user.accountId);
    const manage = html`<button class="button quiet" type="submit">Billing address and card</button>`;
    const body = html`${invoices.length === 0 ? html`<p>No invoices yet.</p>` : invoiceTable(invoices)}
${billing.takesPayments && form(visit, '/dashboard/plan/manage', manage)}
<p><a href="/dashboard/plan">Back to your plan</a></p>`;
    return await sendPrivate(site, visit, { title: 'Invoices', body });
  });
}

function invoiceTable(invoices: readonly InvoiceSummary[]): Html {
  return table(
    'Invoices',
    ['Number', 'Date', 'Amount', 'Status', 'Download'],
    invoices.map(({ id, number, createdAt, total, currency, status, url, pdfUrl }) => {
      const name = number ?? id;
      return [
        url === undefined ? name : html`<a href="${url}" rel="noopener">${name}</a>`,
        timeElement(createdAt.toISOString(), createdAt.toISOString().slice(0, 10)),
        money(total, currency),
        STATES[status] ?? status,
        pdfUrl === undefined ? '' : html`<a href="${pdfUrl}" rel="noopener" aria-label="${name} as PDF">PDF</a>`,
      ];
    }),
  );
}
