#!/usr/bin/env node
import { main } from '../dist/cli/cli.js';

await main(process.argv.slice(2));
