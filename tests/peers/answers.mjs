// What a client says when it is asked: `{form, url, model, roots}`, of which it can be asked what is there.

/** The capabilities of a client with these answers. */
export function capabilities({ form, url, model, roots }) {
  const elicitation = form || url ? { ...(form && { form: {} }), ...(url && { url: {} }) } : undefined;
  return {
    ...(elicitation && { elicitation }),
    ...(model && { sampling: {} }),
    ...(roots && { roots: {} }),
  };
}

/** Fills in the fields that it knows. */
function fillIn({ requestedSchema }, known) {
  const fields = Object.keys(requestedSchema.properties).filter((field) => field in known);
  return { action: 'accept', content: Object.fromEntries(fields.map((field) => [field, known[field]])) };
}

/** The answers by the method that asks for them; every question is written down in `asked`. */
export function handlers({ form, url, model, roots }, asked) {
  const writeDown = (method, answer) => (request) => {
    asked.push({ method, params: request.params ?? {} });
    return answer(request.params ?? {});
  };
  const content = { type: 'text', text: model };
  const elicit = (params) => (params.mode === 'url' ? { action: url } : fillIn(params, form));
  const all = {
    'elicitation/create': (form || url) && elicit,
    'sampling/createMessage': model && (() => ({ role: 'assistant', model: 'test', content })),
    'roots/list': roots && (() => ({ roots: roots.map((uri) => ({ uri, name: 'root' })) })),
  };
  const able = Object.entries(all).filter(([, answer]) => answer);
  return able.map(([method, answer]) => [method, writeDown(method, answer)]);
}
