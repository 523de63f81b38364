import { makeFirstLink } from "../features/appliance/setup.ts";
import * as contract from "../features/appliance/setup-contract.ts";
import { type Command, print } from "./command.ts";
import { entryOf } from "./list.ts";
import { runningOrHere } from "./with-appliance.ts";

export const firstLink: Command = {
  ...entryOf("first-link"),
  usage: ["signet first-link", "The link lives for 24 hours; links made before stop working."],
  async run(context) {
    const { link } = await runningOrHere(context, {
      running: (call) => call(contract.makeFirstLink, {}),
      here: makeFirstLink,
      createKey: true,
    });
    print(context, { link }, `Create the first owner at ${link}`);
    return 0;
  },
};
