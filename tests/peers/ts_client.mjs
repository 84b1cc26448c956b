// `ts_client.mjs URL OPERATIONS ANSWERS [--era session|auto|stateless]`: the TypeScript client of the stateless era.

import { createRequire } from 'node:module';
import { able, drive, headers, readArguments } from './operations.mjs';

const require = createRequire(`${process.env.MCPR_PEERS}/npm/package.json`);
const { Client, StreamableHTTPClientTransport } = require('@modelcontextprotocol/client');

const MODES = { session: 'legacy', auto: 'auto', stateless: { pin: '2026-07-28' } };

const { url, operations, answers, era } = readArguments(process.argv.slice(2));
const info = { name: 'ts-client', version: '2.4.0' };
const made = able(
  answers,
  (options) => new Client(info, { ...options, versionNegotiation: { mode: MODES[era] } }),
  (client, method, handler) => client.setRequestHandler(method, handler),
);
const transport = new StreamableHTTPClientTransport(url, { requestInit: { headers: headers() } });
await drive(made, transport, operations, (params, options) => made.client.callTool(params, options));
