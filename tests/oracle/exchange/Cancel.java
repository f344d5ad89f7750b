package exchange;

public class Cancel {
    public String item;

    public Cancel() {}

    public Cancel(String item) {
        this.item = item;
    }
}
