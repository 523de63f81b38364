import { Fragment } from "react";
import { pageLanguage } from "../../../shared/i18n.ts";
import { quote, quoted } from "./quote.ts";

/** Words with what others said in them, which stands there as it was said, marked as English. @param children from `quote` */
export function Words({ children }: { children: string }) {
  return quoted(children).map(({ text, said, at }) =>
    said ? (
      <q key={at} lang="en">
        {text}
      </q>
    ) : (
      <Fragment key={at}>{text}</Fragment>
    ),
  );
}

/** What the appliance, its system or somebody outside said, as it was said. */
export function Said({ children }: { children: string }) {
  return <Words>{quote(children)}</Words>;
}

/** Lines that somebody reads as they were written: logs, answers of servers. They are English in every language of the page. */
export const verbatim = () => (pageLanguage() === "en" ? {} : { lang: "en" });
