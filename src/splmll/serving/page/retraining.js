// One button to learn again from the answers, while annotators go on.
const LOOK_MILLISECONDS = 1000;

function retrainingControl(onDone) {
  const button = byId("retrain");
  const said = byId("retraining");
  const bar = byId("retraining-share");
  const message = byId("retraining-message");
  let following = false;

  function show({ state, what, share }) {
    const running = state === "running";
    button.setAttribute("aria-disabled", String(running));
    bar.hidden = !running;
    if (typeof share === "number") bar.value = share;
    else bar.removeAttribute("value");
    said.textContent = running ? `Retraining: ${what} …` : state === "done" ? `Retrained: ${what}.` : "";
    tell(message, state === "failed" ? `Retraining failed: ${what}` : "");
  }

  async function follow() {
    if (following) return;
    following = true;
    try {
      for (;;) {
        const progress = await service.get("annotate/retraining");
        show(progress);
        if (progress.state === "done") onDone();
        if (progress.state !== "running") return;
        await pause(LOOK_MILLISECONDS);
      }
    } catch (error) {
      tell(message, error.message);
    } finally {
      following = false;
    }
  }

  button.addEventListener("click", async () => {
    if (button.getAttribute("aria-disabled") === "true") return;
    try {
      show(await service.post("annotate/retrain", {}));
      await follow();
    } catch (error) {
      tell(message, error.message);
    }
  });

  return {
    // Another tab, or this one before it was reloaded, may have started it.
    async look() {
      const progress = await service.get("annotate/retraining");
      if (progress.state === "running") follow();
    },
  };
}
