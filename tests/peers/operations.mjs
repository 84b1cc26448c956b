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

const OPERATIONS = {
  list_tools: (client, { cursor }) => client.listTools(cursor === undefined ? {} : { cursor }),
  list_prompts: (client) => client.listPrompts(),
  list_resources: (client) => client.listResources(),
  list_templates: (client) => client.listResourceTemplates(),
  call_tool: (client, { name, arguments: given }) => client.callTool({ name, arguments: given }),
  read_resource: (client, { uri }) => client.readResource({ uri }),
  get_prompt: (client, { name, arguments: given }) => client.getPrompt({ name, arguments: given }),
  complete: (client, { ref, argument }) => client.complete({ ref, argument }),
};

async function run(client, operation) {
  try {
    return { ok: await OPERATIONS[operation.op](client, operation) };
  } catch (error) {
    return { error: { code: error.code ?? null, message: String(error.message ?? error) } };
  }
}

/** Connects, runs everything, prints, and ends. */
export async function drive(client, transport, operations) {
  await client.connect(transport);
  const results = [];
  for (const operation of operations) {
    results.push(await run(client, operation));
  }
  const server = client.getServerVersion();
  const version = client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion ?? null;
  process.stdout.write(`${JSON.stringify({ server, version, results })}\n`);
  await client.close();
}
