import { createClient } from "../../server/commands/demo/client.ts";
import { sendEnvelope, waitFor } from "../../server/commands/demo/main-job.ts";
import { Envelope } from "../../server/features/envelopes/contract.ts";
import type { Container } from "./container.ts";
import { anchored, answers, type Job, mainProcess, restarts, sealed, signForAll, urlOf } from "./service.ts";
import { equal, holds, step } from "./steps.ts";

/** What ends the process, and what must be there afterwards all the same. */

const kills = 3;

export async function endure(at: Container, job: Job): Promise<void> {
  await step(`kill -9 ${kills} times under load: systemd starts it again, nothing that was accepted is lost`, () =>
    killUnderLoad(at, job),
  );
  await step("kill -9 right behind the last signature: the seal comes all the same", async () => {
    const { id } = await sendEnvelope(createClient(urlOf(at), job.key), job.template);
    await signForAll(at);
    await killed(at);
    await sealed(at, job.key, id);
    await anchored(at, job.sha256);
  });
  await step("a process that stands still is ended by the watchdog and started again", async () => {
    await at.must(["mkdir", "-p", "/run/systemd/system/signet.service.d"]);
    const soon = "printf '[Service]\\nWatchdogSec=6\\n' >/run/systemd/system/signet.service.d/soon.conf";
    await at.must(["sh", "-c", soon]);
    await at.must(["systemctl", "daemon-reload"]);
    await at.must(["systemctl", "restart", "signet"]);
    const [before, count] = [await mainProcess(at), await restarts(at)];
    await at.must(["sh", "-c", `kill -STOP ${before}`]);
    await waitFor("another process", async () => ((await restarts(at)) > count ? true : null), 120_000, 250);
    await at.must(["rm", "-r", "/run/systemd/system/signet.service.d"]);
    await at.must(["systemctl", "daemon-reload"]);
    await at.must(["systemctl", "restart", "signet"]);
    await answers(at);
    holds(await at.must(["journalctl", "-u", "signet", "--no-pager"]), /Watchdog timeout/, "journal");
  });
}

/** @returns once another process answers */
async function killed(at: Container): Promise<void> {
  const [before, count] = [await mainProcess(at), await restarts(at)];
  await at.must(["sh", "-c", `kill -9 ${before}`]);
  await waitFor("another process", async () => ((await restarts(at)) > count ? true : null), 60_000, 250);
  await answers(at);
}

/** Two clients send without a pause while the process is killed. Each 201 is a promise. */
async function killUnderLoad(at: Container, { key, template }: Job): Promise<void> {
  const client = createClient(urlOf(at), key);
  const accepted: string[] = [];
  let loaded = true;
  let broken = 0;
  const send = async () => {
    while (loaded) {
      const made = await sendEnvelope(client, template).catch(() => null);
      if (made) accepted.push(made.id);
      else {
        broken += 1;
        await answers(at);
      }
    }
  };
  const senders = [send(), send()];
  for (let round = 0; round < kills; round += 1) {
    const before = accepted.length;
    await waitFor("more that was accepted", async () => (accepted.length >= before + 5 ? true : null), 60_000);
    await killed(at);
  }
  loaded = false;
  await Promise.all(senders);
  for (const id of accepted)
    await waitFor(
      `the first mail of ${id}`,
      async () => ((await client.json(Envelope, `/v1/envelopes/${id}`)).status === "sent" ? true : null),
      180_000,
      250,
    );
  const { status, stdout } = await at.tryTo(["signet", "fsck", "--json"]);
  if (status !== 0) throw new Error(`fsck: ${stdout.slice(-1000)}`);
  console.log(`          ${accepted.length} envelopes accepted and sent, ${broken} calls were cut off`);
  equal(new Set(accepted).size, accepted.length, "ids");
}
