// Answers on their way: each has a token of its own, is sent until it has arrived, and survives a
// reload of the page. The service keeps an answer that arrives twice once.
const UNSENT_KEY = "splmll unsent answer"; // in the storage of this tab
const RETRY_MILLISECONDS = 1000;

const newToken = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");

const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

// `onWait` is told while the service does not answer, and with nothing when it does again.
function sender(onWait) {
  let busy = false;

  async function send(path, content) {
    busy = true;
    sessionStorage.setItem(UNSENT_KEY, JSON.stringify({ path, content }));
    try {
      for (;;) {
        try {
          const answer = await service.post(path, content);
          onWait();
          return answer.task;
        } catch (error) {
          // A refusal is final; silence or a failing service is not.
          if (error.status !== 0 && error.status < 500) throw error;
          onWait(error);
          await pause(RETRY_MILLISECONDS);
        }
      }
    } finally {
      sessionStorage.removeItem(UNSENT_KEY);
      busy = false;
    }
  }

  return {
    send,
    get busy() {
      return busy;
    },
    // What was on its way when the page was left.
    left: () => JSON.parse(sessionStorage.getItem(UNSENT_KEY) ?? "null"),
  };
}
