import { expect, it } from 'vitest';
import { DAY, HOUR, type World } from './world.ts';

const ACTOR = 'operator:1';

export function incidentsContract(world: () => World): void {
  it('an incident lasts until an update ends it, and keeps every update', async () => {
    const { incidents, audit } = world().store;
    const id = await incidents.report({ title: 'Slow videos', impact: 'degraded', body: 'We look into it.' }, ACTOR);
    const startedAt = world().clock().toISOString();
    world().pass(HOUR);
    expect(await incidents.update(id, { body: 'Found it.', isOver: false }, ACTOR)).toBe(true);
    expect(await incidents.open()).toMatchObject([{ id, title: 'Slow videos', startedAt, endedAt: null }]);
    world().pass(HOUR);
    const endedAt = world().clock().toISOString();
    expect(await incidents.update(id, { body: 'Fixed.', isOver: true }, ACTOR)).toBe(true);
    expect(await incidents.open()).toEqual([]);
    const incident = await incidents.find(id);
    expect(incident).toMatchObject({ impact: 'degraded', endedAt });
    expect(incident?.updates.map(({ body }) => body)).toEqual(['Fixed.', 'Found it.', 'We look into it.']);
    const entries = await audit.list({ action: 'incident.', count: 9 });
    expect(entries.map(({ action }) => action)).toEqual(['incident.ended', 'incident.updated', 'incident.reported']);
  });

  it('an incident that has ended, or that does not exist, gets no update', async () => {
    const { incidents } = world().store;
    const id = await incidents.report({ title: 'Outage', impact: 'outage', body: 'Down.' }, ACTOR);
    await incidents.update(id, { body: 'Up.', isOver: true }, ACTOR);
    expect(await incidents.update(id, { body: 'Down again.', isOver: false }, ACTOR)).toBe(false);
    expect(await incidents.update('none', { body: 'Hello', isOver: false }, ACTOR)).toBe(false);
    expect((await incidents.find(id))?.updates).toHaveLength(2);
    expect(await incidents.find('none')).toBeUndefined();
  });

  it('the history has incidents that began in it or still last, newest first', async () => {
    const { incidents } = world().store;
    const report = async (title: string): Promise<string> =>
      await incidents.report({ title, impact: 'maintenance', body: 'Text' }, ACTOR);
    const old = await report('Old');
    await incidents.update(old, { body: 'Over', isOver: true }, ACTOR);
    await report('Still going');
    world().pass(90 * DAY);
    const since = world().clock();
    await report('New');
    expect((await incidents.since(since)).map(({ title }) => title)).toEqual(['New', 'Still going']);
  });

  it('an incident gets updates of several servers one after the other', async () => {
    const { incidents } = world().store;
    const other = await world().server('there/1');
    const id = await incidents.report({ title: 'Outage', impact: 'outage', body: '0' }, ACTOR);
    const updates = [incidents, other.incidents, incidents, other.incidents].map(
      async (each, index) => await each.update(id, { body: String(index + 1), isOver: false }, ACTOR),
    );
    expect(await Promise.all(updates)).toEqual([true, true, true, true]);
    expect((await incidents.find(id))?.updates.map(({ body }) => body).toSorted()).toEqual(['0', '1', '2', '3', '4']);
  });
}
