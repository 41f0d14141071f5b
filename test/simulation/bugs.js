// Bugs that are put in on purpose, one at a time, to show that the simulation finds them. Each changes one place of the real
// code while it is loaded; `npm run simulate -- --bug <name>` runs with it.

export const BUGS = {
  'charge-again': {
    what: 'A hold is charged whatever its state, so a repeated write charges twice.',
    file: 'src/service/store/ledger/holds.ts',
    find: 'duration_ms = :durationMs where ${IS_RESERVED}',
    replace: "duration_ms = :durationMs where id = :renderId and coalesce(owner, '') = coalesce(:owner, '')",
  },
  'abandoned-render': {
    what: 'A render of a dead server is not claimed again.',
    file: 'src/service/store/renders/render-claims.ts',
    find: '(${ofName} and q.is_due = 0 and q.due_at <= :now ${inOrder})',
    replace: '(${ofName} and q.is_due = 0 and q.due_at <= :now and q.owner is null ${inOrder})',
  },
  'lost-webhook': {
    what: 'A webhook whose response is an error counts as delivered.',
    file: 'src/service/webhooks/delivery-job.ts',
    find: "if (error === undefined) return { kind: 'succeeded' };",
    replace: "if (error === undefined || status === 503) return { kind: 'succeeded' };",
  },
  'kept-hold': {
    what: 'The sweep deletes a dead server and leaves its holds.',
    file: 'src/service/store/ledger/ledger.ts',
    find: 'if (await this.#releaseLost(last, owner)) released.push(last);',
    replace: 'released.push(last);',
  },
  'old-attempt': {
    what: 'An attempt that lost its lease can still end the render.',
    file: 'src/service/store/renders/lock-attempt.ts',
    find: "export const IS_LATEST = 'id = :renderId and attempts = :number and owner is not null';",
    replace: "export const IS_LATEST = 'id = :renderId and :number = :number';",
  },
  'accepted-twice': {
    what: 'A repeated request with the same idempotency key is accepted again.',
    file: 'src/service/store/renders/accept-renders.ts',
    find: 'if (known) return known;',
    replace: "if (known && known.kind !== 'replayed') return known;",
  },
};
