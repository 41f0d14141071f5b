// Registers a module hook that adds a counter to every branch of the code under test. It comes after the hook of tsx, so it
// gets JavaScript. The fuzzer reads the counters, and uses the literals of the code as words of its dictionary.

import { register } from 'node:module';

/** More branches than the code under test has. */
const MAX_COUNTERS = 65_536;

globalThis.fuzzCounters = new Uint32Array(MAX_COUNTERS);
globalThis.fuzzLiterals = [];
globalThis.fuzzBranches = 0;

register('./instrument-hook.js', import.meta.url);
