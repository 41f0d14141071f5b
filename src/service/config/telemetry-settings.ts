// Settings of traces. The variables are those that all OpenTelemetry programs use.

import { list, type Parse, urlOrEmpty } from './parse.ts';
import { setting } from './setting.ts';

/** Parses `name=value` pairs, percent-encoded. */
const otlpHeaders: Parse<Readonly<Record<string, string>>> = (text) => {
  const fault = 'must be comma-separated name=value pairs, percent-encoded';
  const pairs = list(text).map((pair) => /^(?<name>[\w-]+)\s*=\s*(?<value>\S*)$/u.exec(pair)?.groups);
  try {
    const headers = pairs.map((pair) => [pair?.['name'] ?? '', decodeURIComponent(pair?.['value'] ?? '')]);
    return headers.every(([name]) => name !== '') ? { value: Object.fromEntries(headers) } : { fault };
  } catch {
    return { fault };
  }
};

export const TELEMETRY_SETTINGS = {
  otlpEndpoint: setting(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    '',
    'Base URL of an OpenTelemetry collector that accepts OTLP over HTTP, such as `http://collector:4318`. The server sends a trace of every request to `/v1/traces` below it. Default: no traces.',
    urlOrEmpty,
  ),
  otlpHeaders: setting(
    'OTEL_EXPORTER_OTLP_HEADERS',
    '',
    'Headers for the collector, such as `authorization=Bearer%20secret`: comma-separated `name=value` pairs, percent-encoded.',
    otlpHeaders,
  ),
} as const;
