"use strict";
const credentials = document.getElementById("credentials");
credentials.closest("form").hidden = false;
for (const form of document.querySelectorAll("form[data-path]")) {
  form.hidden = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    ask(form);
  });
}
function reveal() {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target && target.tagName === "DETAILS") target.open = true;
}
addEventListener("hashchange", reveal);
reveal();
async function ask(form) {
  let path = form.dataset.path;
  const query = new URLSearchParams();
  const headers = {};
  for (const field of form.querySelectorAll("[data-in]")) {
    const value = field.value;
    if (field.dataset.in === "path") path = path.replace(`{${field.name}}`, encodeURIComponent(value));
    else if (value === "") continue;
    else if (field.dataset.in === "header") headers[field.name] = value;
    else if (field.dataset.repeated) value.split(",").forEach((one) => query.append(field.name, one.trim()));
    else query.append(field.name, value);
  }
  if (credentials.value) headers.Authorization = credentials.value;
  const body = form.querySelector("textarea");
  if (body) headers["Content-Type"] = "application/vnd.schemaregistry.v1+json";
  const shown = form.querySelector("pre");
  shown.hidden = false;
  const asked = query.toString() ? `${path}?${query}` : path;
  try {
    const answer = await fetch(asked, { method: form.dataset.method, headers, body: body ? body.value : undefined });
    const told = [`${form.dataset.method} ${asked}`, `${answer.status} ${answer.statusText}`];
    for (const [name, value] of answer.headers) told.push(`${name}: ${value}`);
    let text = await answer.text();
    try {
      text = JSON.stringify(JSON.parse(text), null, 2);
    } catch {
      // not JSON: shown as it came
    }
    shown.textContent = `${told.join("\n")}\n\n${text}`;
  } catch (trouble) {
    shown.textContent = `${form.dataset.method} ${asked}\n${trouble}`;
  }
}
