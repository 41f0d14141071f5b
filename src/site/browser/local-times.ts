// Times of the dashboard are in UTC. Under the pointer, each also has the time of the visitor.

const LOCAL = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' });

let titled: HTMLElement | undefined;

document.addEventListener('pointermove', ({ clientX, clientY }) => {
  const elements = document.elementsFromPoint(clientX, clientY);
  const time = elements.find((element) => element instanceof HTMLTimeElement);
  titled?.removeAttribute('title');
  // In a list, the link of the entry lies over the time, and browsers show the title of what is on top.
  titled = time && elements.find((element) => element instanceof HTMLElement);
  if (titled && time) titled.title = LOCAL.format(new Date(time.dateTime));
});
