/**
 * Opens a page. If that fails, an error is shown instead of an empty page, in English: its words may be what is missing.
 * @param open ends when the page is drawn
 */
export async function opening(open: () => Promise<void>): Promise<void> {
  try {
    await open();
  } catch (error) {
    sayItFailed();
    throw error;
  }
}

function sayItFailed(): void {
  const stage = document.createElement("div");
  stage.className = "stage";
  stage.lang = "en";
  stage.dir = "ltr";
  const main = document.createElement("main");
  const card = document.createElement("div");
  card.className = "card";
  const title = document.createElement("h1");
  title.textContent = "This page could not be loaded";
  const text = document.createElement("p");
  text.textContent = "Check your connection and try again.";
  const again = document.createElement("button");
  again.type = "button";
  again.textContent = "Try again";
  again.addEventListener("click", () => window.location.reload());
  card.append(title, text, again);
  main.append(card);
  stage.append(main);
  document.body.replaceChildren(stage);
}
