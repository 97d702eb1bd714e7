// Asking the service: one place for addresses, the token, and what is said when it refuses.
const TOKEN_KEY = "splmll token"; // in the storage of this tab

class ServiceError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

const service = (() => {
  let token = sessionStorage.getItem(TOKEN_KEY);
  let asking = null; // several refused requests wait for one answer

  function askForToken(message) {
    asking ||= new Promise((resolve) => {
      const dialog = byId("token-dialog");
      const field = byId("token");
      byId("token-message").textContent = message;
      field.value = "";
      let given = null;
      const take = () => {
        given = field.value.trim();
      };
      byId("token-form").addEventListener("submit", take, { once: true });
      dialog.addEventListener(
        "close",
        () => {
          byId("token-form").removeEventListener("submit", take);
          asking = null;
          if (given) {
            token = given;
            sessionStorage.setItem(TOKEN_KEY, given);
          }
          resolve(Boolean(given));
        },
        { once: true },
      );
      dialog.showModal();
    });
    return asking;
  }

  async function refusal(response) {
    let message = `The service answered with status ${response.status}.`;
    try {
      message = (await response.json()).error.message || message;
    } catch {
      // Not an answer of the service itself but of something before it: the status is all there is.
    }
    return new ServiceError(response.status, message);
  }

  async function ask(path, { model, query = {}, signal, ...options } = {}) {
    const words = new URLSearchParams(model === undefined ? query : { ...query, model });
    const address = `${path}?${words}`;
    for (;;) {
      const sent = token;
      const headers = new Headers(options.headers);
      if (sent) headers.set("Authorization", `Bearer ${sent}`);
      let response;
      try {
        response = await fetch(address, { ...options, headers, signal });
      } catch (error) {
        if (error.name === "AbortError") throw error;
        throw new ServiceError(0, "The service does not respond. Restart it, then try again.");
      }
      if (response.ok) return response;
      const error = await refusal(response);
      if (response.status !== 401) throw error;
      // Another request may have been given the token in the meantime.
      if (token === sent && !(await askForToken(error.message))) throw error;
    }
  }

  const posted = (body, type, accept) => ({
    method: "POST",
    body,
    headers: { "Content-Type": type, Accept: accept },
  });
  const json = async (response) => (await response).json();

  return {
    get: (path, options) => json(ask(path, options)),
    file: async (path, options) => (await ask(path, options)).blob(),
    post: (path, content, options) =>
      json(
        ask(path, {
          ...options,
          ...posted(JSON.stringify(content), "application/json", "application/json"),
        }),
      ),
    postFile: (path, file, options) =>
      json(ask(path, { ...options, ...posted(file, "text/csv", "application/json") })),
    fileAsCsv: async (path, file, options) =>
      (await ask(path, { ...options, ...posted(file, "text/csv", "text/csv") })).blob(),
  };
})();

// Of several requests of one kind only the latest counts: earlier ones are called off.
function latest(action) {
  let current = null;
  return async (...values) => {
    if (current) current.abort();
    const own = new AbortController();
    current = own;
    try {
      return await action(own.signal, ...values);
    } catch (error) {
      if (error.name !== "AbortError") throw error;
      return undefined;
    }
  };
}
