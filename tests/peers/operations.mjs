// What both TypeScript clients do: run operations in order and print one line of JSON.

/** Reads `URL OPERATIONS [--era ERA]`. */
export function readArguments(words) {
  const [url, operations, flag, era] = words;
  return { url: new URL(url), operations: JSON.parse(operations), era: flag === '--era' ? era : 'session' };
}

/** The headers of every request. */
export function headers() {
  const token = process.env.MCPR_TEST_TOKEN;
  return token ? { Authorization: `Bearer ${token}` } : {};
}

/** Calls a tool and gives the progress that came before the result too. */
async function callWithProgress(call, { name, arguments: given }) {
  const progress = [];
  const result = await call({ name, arguments: given }, { onprogress: (notice) => progress.push(notice) });
  return { result, progress };
}

/** Calls a tool and cancels the call at its first progress. */
function callAndCancel(call, { name, arguments: given }) {
  const abort = new AbortController();
  return call({ name, arguments: given }, { onprogress: () => abort.abort('enough'), signal: abort.signal });
}

/** The next update of a resource. */
function update(client) {
  return new Promise((resolve) => {
    client.fallbackNotificationHandler = async ({ method, params }) => {
      if (method === 'notifications/resources/updated') {
        resolve(params.uri);
      }
    };
  });
}

/** Subscribes to a resource in the way of the era, calls a tool that changes it, and gives what is heard of it. */
async function hear(client, { uri, name, arguments: given }, call) {
  const updated = update(client);
  const stateless = client.getNegotiatedProtocolVersion?.() === '2026-07-28';
  const listen = stateless ? await client.listen({ resourceSubscriptions: [uri] }) : undefined;
  if (!stateless) {
    await client.subscribeResource({ uri });
  }
  await call({ name, arguments: given });
  const heard = await updated;
  await (stateless ? listen.close() : client.unsubscribeResource({ uri }));
  return { heard };
}

const OPERATIONS = {
  list_tools: (client, { cursor }) => client.listTools(cursor === undefined ? {} : { cursor }),
  list_prompts: (client) => client.listPrompts(),
  list_resources: (client) => client.listResources(),
  list_templates: (client) => client.listResourceTemplates(),
  call_tool: (client, { name, arguments: given }, call) => call({ name, arguments: given }),
  call_with_progress: (client, operation, call) => callWithProgress(call, operation),
  call_and_cancel: (client, operation, call) => callAndCancel(call, operation),
  hear,
  read_resource: (client, { uri }) => client.readResource({ uri }),
  get_prompt: (client, { name, arguments: given }) => client.getPrompt({ name, arguments: given }),
  complete: (client, { ref, argument, context }) => client.complete({ ref, argument, context }),
};

async function run(client, operation, call) {
  try {
    return { ok: await OPERATIONS[operation.op](client, operation, call) };
  } catch (error) {
    return { error: { code: error.code ?? null, message: String(error.message ?? error) } };
  }
}

/** Connects, runs everything, prints, and ends; `call` is the SDK's way to call a tool with options. */
export async function drive(client, transport, operations, call) {
  await client.connect(transport);
  const results = [];
  for (const operation of operations) {
    results.push(await run(client, operation, call));
  }
  const server = client.getServerVersion();
  const version = client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion ?? null;
  process.stdout.write(`${JSON.stringify({ server, version, results })}\n`);
  await client.close();
}
