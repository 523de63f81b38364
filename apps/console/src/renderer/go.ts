import { createHashHistory } from "@tanstack/react-router";

/** The page's address stands behind `#`: app:// has one document. */
export const history = createHashHistory();

/** Shows a page, by its name. Never by setting the fragment: the browser then takes the focus away from the new heading. */
export function goTo(name: string): void {
  history.push(`/${name}`);
}
