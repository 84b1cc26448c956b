// `ts_client.mjs URL OPERATIONS [--era session|auto]`: the TypeScript client of the stateless era.

import { createRequire } from 'node:module';
import { drive, headers, readArguments } from './operations.mjs';

const require = createRequire(`${process.env.MCPR_PEERS}/npm/package.json`);
const { Client, StreamableHTTPClientTransport } = require('@modelcontextprotocol/client');

const { url, operations, era } = readArguments(process.argv.slice(2));
const mode = era === 'auto' ? 'auto' : 'legacy';
const client = new Client({ name: 'ts-client', version: '2.4.0' }, { versionNegotiation: { mode } });
const transport = new StreamableHTTPClientTransport(url, { requestInit: { headers: headers() } });
await drive(client, transport, operations, (params, options) => client.callTool(params, options));
