// `ts1_client.mjs URL OPERATIONS`: the TypeScript SDK of the session era.

import { createRequire } from 'node:module';
import { drive, headers, readArguments } from './operations.mjs';

const require = createRequire(`${process.env.MCPR_PEERS}/npm/package.json`);
const { Client } = require('@modelcontextprotocol/sdk/client/index.js');
const { StreamableHTTPClientTransport } = require('@modelcontextprotocol/sdk/client/streamableHttp.js');

const { url, operations } = readArguments(process.argv.slice(2));
const client = new Client({ name: 'ts1-client', version: '1.32.2' });
const transport = new StreamableHTTPClientTransport(url, { requestInit: { headers: headers() } });
await drive(client, transport, operations, (params, options) => client.callTool(params, undefined, options));
