// What both TypeScript clients do: run operations in order and print one line of JSON.

import { capabilities, handlers } from './answers.mjs';

const STATELESS = '2026-07-28';
const LOG_LEVEL = 'io.modelcontextprotocol/logLevel';

/** Reads `URL OPERATIONS ANSWERS [--era ERA]`. */
export function readArguments(words) {
  const [url, operations, answers, flag, era] = words;
  return {
    url: new URL(url),
    operations: JSON.parse(operations),
    answers: JSON.parse(answers),
    era: flag === '--era' ? era : 'session',
  };
}

/** The headers of every request. */
export function headers() {
  const token = process.env.MCPR_TEST_TOKEN;
  return token ? { Authorization: `Bearer ${token}` } : {};
}

/** What a client hears besides answers, until somebody takes it. */
class Ears {
  notices = [];
  wake = () => {};

  hear(notice) {
    this.notices.push(notice);
    this.wake();
  }

  /** All notices of a method that came so far. */
  take(method) {
    const taken = this.notices.filter((notice) => notice.method === method);
    this.notices = this.notices.filter((notice) => notice.method !== method);
    return taken.map((notice) => notice.params ?? {});
  }

  /** The first notice of a method, once there is one. */
  async next(method) {
    for (;;) {
      const index = this.notices.findIndex((notice) => notice.method === method);
      if (index >= 0) {
        return this.notices.splice(index, 1)[0].params ?? {};
      }
      await new Promise((resolve) => {
        this.wake = resolve;
      });
    }
  }
}

/** A client at work; `call` is the SDK's way to call a tool with options. */
class Worker {
  ears = new Ears();
  listens = [];

  constructor(client, call) {
    this.client = client;
    this.call = call;
    client.fallbackNotificationHandler = async (notice) => this.ears.hear(notice);
  }

  isStateless() {
    return this.client.getNegotiatedProtocolVersion?.() === STATELESS;
  }

  /** Calls a tool and gives the progress that came before the result too. */
  async callWithProgress({ name, arguments: given }) {
    const progress = [];
    const result = await this.call({ name, arguments: given }, { onprogress: (notice) => progress.push(notice) });
    return { result, progress };
  }

  /** Calls a tool and cancels the call at its first progress. */
  callAndCancel({ name, arguments: given }) {
    const abort = new AbortController();
    return this.call({ name, arguments: given }, { onprogress: () => abort.abort('enough'), signal: abort.signal });
  }

  /** Calls a tool and gives what was logged for it, at a level that is told in the way of the era. */
  async callWithLog({ name, arguments: given, level }) {
    const meta = this.isStateless() ? { _meta: { [LOG_LEVEL]: level } } : {};
    if (!this.isStateless()) {
      await this.client.setLoggingLevel(level);
    }
    const result = await this.call({ name, arguments: given, ...meta });
    return { result, log: this.ears.take('notifications/message') };
  }

  /** Calls a tool once, and gives what comes of it even if that is a question. */
  callOnce({ op, ...params }) {
    return this.call(params, { allowInputRequired: true });
  }

  /** Wants to hear of what changes; a session hears of lists without a word. */
  async listen(filter) {
    if (this.isStateless()) {
      this.listens.push(await this.client.listen(filter));
    }
    return {};
  }

  /** Subscribes to a resource in the way of the era, calls a tool that changes it, and gives what is heard of it. */
  async hear({ uri, name, arguments: given }) {
    const listen = this.isStateless() ? await this.client.listen({ resourceSubscriptions: [uri] }) : undefined;
    if (!listen) {
      await this.client.subscribeResource({ uri });
    }
    await this.call({ name, arguments: given });
    const heard = await this.ears.next('notifications/resources/updated');
    await (listen ? listen.close() : this.client.unsubscribeResource({ uri }));
    return { heard: heard.uri };
  }

  /** Waits until a tool is listed or no longer is, looking again whenever the list is said to have changed. */
  async awaitTool({ name, listed }) {
    for (;;) {
      const { tools } = await this.client.listTools();
      if (tools.some((tool) => tool.name === name) === listed) {
        return {};
      }
      await this.ears.next('notifications/tools/list_changed');
    }
  }

  async close() {
    await Promise.all(this.listens.map((listen) => listen.close()));
    await this.client.close();
  }
}

const OPERATIONS = {
  list_tools: ({ client }, { cursor }) => client.listTools(cursor === undefined ? {} : { cursor }),
  list_prompts: ({ client }) => client.listPrompts(),
  list_resources: ({ client }) => client.listResources(),
  list_templates: ({ client }) => client.listResourceTemplates(),
  call_tool: (worker, { name, arguments: given }) => worker.call({ name, arguments: given }),
  call_with_progress: (worker, operation) => worker.callWithProgress(operation),
  call_and_cancel: (worker, operation) => worker.callAndCancel(operation),
  call_with_log: (worker, operation) => worker.callWithLog(operation),
  call_once: (worker, operation) => worker.callOnce(operation),
  hear: (worker, operation) => worker.hear(operation),
  listen: (worker, { filter }) => worker.listen(filter),
  await_tool: (worker, operation) => worker.awaitTool(operation),
  ping: ({ client }) => client.ping(),
  set_level: ({ client }, { level }) => client.setLoggingLevel(level),
  read_resource: ({ client }, { uri }) => client.readResource({ uri }),
  get_prompt: ({ client }, { name, arguments: given }) => client.getPrompt({ name, arguments: given }),
  complete: ({ client }, { ref, argument, context }) => client.complete({ ref, argument, context }),
};

async function run(worker, operation) {
  try {
    return { ok: await OPERATIONS[operation.op](worker, operation) };
  } catch (error) {
    return { error: { code: error.code ?? null, message: String(error.message ?? error) } };
  }
}

/** Makes a client that can be asked what it has answers for; gives also the list of what it will be asked. */
export function able(answers, make, handle) {
  const asked = [];
  const client = make({ capabilities: capabilities(answers) });
  handlers(answers, asked).forEach(([method, handler]) => handle(client, method, handler));
  return { client, asked };
}

/** Connects, runs everything, prints, and ends; `call` is the SDK's way to call a tool with options. */
export async function drive({ client, asked }, transport, operations, call) {
  const worker = new Worker(client, call);
  await client.connect(transport);
  const results = [];
  for (const operation of operations) {
    results.push(await run(worker, operation));
  }
  const server = client.getServerVersion();
  const version = client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion ?? null;
  process.stdout.write(`${JSON.stringify({ server, version, results, asked })}\n`);
  await worker.close();
}
