// `ts1_client.mjs URL OPERATIONS ANSWERS`: the TypeScript SDK of the session era.

import { createRequire } from 'node:module';
import { able, drive, headers, readArguments } from './operations.mjs';

const require = createRequire(`${process.env.MCPR_PEERS}/npm/package.json`);
const { Client } = require('@modelcontextprotocol/sdk/client/index.js');
const { StreamableHTTPClientTransport } = require('@modelcontextprotocol/sdk/client/streamableHttp.js');
const types = require('@modelcontextprotocol/sdk/types.js');

const SCHEMAS = {
  'elicitation/create': types.ElicitRequestSchema,
  'sampling/createMessage': types.CreateMessageRequestSchema,
  'roots/list': types.ListRootsRequestSchema,
};

const { url, operations, answers } = readArguments(process.argv.slice(2));
const made = able(
  answers,
  (options) => new Client({ name: 'ts1-client', version: '1.32.2' }, options),
  (client, method, handler) => client.setRequestHandler(SCHEMAS[method], handler),
);
const transport = new StreamableHTTPClientTransport(url, { requestInit: { headers: headers() } });
await drive(made, transport, operations, (params, options) => made.client.callTool(params, undefined, options));
