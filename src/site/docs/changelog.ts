// The changelog of the repository, as two pages: what callers notice, and what operators have to know. An entry says which by its
// first word, `Callers:` or `Operators:`. Without such a word it is for callers, except in sections that are for operators only.

export type ChangelogReader = 'callers' | 'operators';

const OPERATOR_SECTIONS = new Set(['Before you upgrade', 'For operators']);
const CALLER_SECTIONS = new Set(['For callers']);
const AUDIENCE = /^- (?<bold>\*\*)?(?<audience>Callers and operators|Callers|Operators): (?<first>.)/u;

/** The Markdown of the page, without sections that have nothing for this reader. */
export function changelogFor(reader: ChangelogReader, source: string): string {
  const [, ...versions] = source.split(/^(?=## )/mu);
  const parts = versions.flatMap((version) => {
    const [heading = '', ...rest] = version.split('\n');
    const sections = rest
      .join('\n')
      .split(/^(?=### )/mu)
      .map((section) => sectionFor(reader, section))
      .filter((section) => section !== '');
    return sections.length === 0 ? [] : [`${plainHeading(heading)}\n\n${sections.join('\n\n')}`];
  });
  return `${INTRODUCTION[reader]}\n\n${parts.join('\n\n')}\n`;
}

const INTRODUCTION: Readonly<Record<ChangelogReader, string>> = {
  callers:
    '# Changelog\n\nWhat is new for users of the API, the clients and this site. If you run Storybar yourself, read also the ' +
    '[changes for operators](/changelog/operators).',
  operators:
    '# Changelog for operators\n\nWhat to do before an upgrade, and what changes in running the service. The ' +
    '[changelog](/changelog) has what your users notice.',
};

/** The brackets of `## [0.2.0] - 2026-11-16` are a link on GitHub. */
function plainHeading(heading: string): string {
  return heading.replace(/^## \[(?<version>[^\]]+)\](?: - )?/u, (_match, version: string) =>
    heading.includes(' - ') ? `## ${version}, ` : `## ${version}`,
  );
}

function sectionFor(reader: ChangelogReader, section: string): string {
  const title = /^### (?<title>.+)$/mu.exec(section)?.groups?.['title'] ?? '';
  const isForAll = !OPERATOR_SECTIONS.has(title) && !CALLER_SECTIONS.has(title);
  if (OPERATOR_SECTIONS.has(title) && reader === 'callers') return '';
  if (CALLER_SECTIONS.has(title) && reader === 'operators') return '';
  if (!isForAll) return section.trim().replace(/^### For (?:callers|operators)\n+/u, '');
  // What isn't an entry or one of its further lines is the heading, or text that introduces it.
  const entries = section.split(/^(?=- )/mu);
  const head = entries[0]?.startsWith('- ') === true ? '' : (entries.shift() ?? '');
  const kept = entries.filter((entry) => isFor(reader, entry)).map(withoutAudience);
  return kept.length === 0 ? '' : `${head}${kept.join('')}`.trim();
}

function isFor(reader: ChangelogReader, entry: string): boolean {
  const audience = AUDIENCE.exec(entry)?.groups?.['audience'] ?? 'Callers';
  return audience.toLowerCase().includes(reader);
}

function withoutAudience(entry: string): string {
  return entry.replace(AUDIENCE, (_match, bold: string | undefined, _audience, first: string) => {
    return `- ${bold ?? ''}${first.toUpperCase()}`;
  });
}
